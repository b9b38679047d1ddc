// pointwise.cpp -- unary activations and binary arithmetic with broadcasting, row by row; threads own rows.
// Touches its output only; the output may share memory with an input of the same shape.
// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

namespace rnnp {
namespace {

struct Unary {
  RNNPACK_BYTES_32(20);
  ActFn fn;
  BlobActivation act;
  uint32_t elems;
};

bool accepts_unary(const OpChoice &choice, const BlobNode &node) {
  const AttrUnary *a = choice.model->attr<AttrUnary>(node);
  return a == nullptr || a->act.act <= uint32_t(kLastKernelAct);
}

rnnp_status check_unary(const Model &m, const BlobNode &node) {
  return m.attr<AttrUnary>(node) != nullptr && is_elementwise(m, node) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build_unary(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrUnary *a = m.attr<AttrUnary>(node);
  const Kernel *k = find_act(*env, a->act);
  if (k == nullptr) return RNNP_E_LAYOUT;
  Unary *u = env->arena->take<Unary>(1);
  *object = u;
  if (u != nullptr) *u = {k->act, a->act, m.values[m.node_output(node, 0)].row_elems};
  return RNNP_OK;
}

void run_unary(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Unary &u = *static_cast<const Unary *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const ActArgs args = {row_of(env.values[x], row), row_of(env.values[y], row), u.elems, u.act};
    u.fn(&args);
  }
}

struct BinaryNode {
  RNNPACK_BYTES_32(8);
  BinaryFn fn;
  const AttrBinary *attr;
};

// Largest element offset that `stride` reaches over dims.
uint64_t reach(const AttrBinary &a, const uint32_t *stride) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < a.rank; ++i) {
    const uint64_t far = uint64_t{a.dims[i] - 1} * stride[i];
    if (far > UINT32_MAX) return UINT64_MAX;
    last += far;
  }
  return last;
}

bool operand_fits(const Model &m, uint32_t operand, uint32_t y, const AttrBinary &a, const uint32_t *stride) {
  if (!is_f32_value(m, operand, 0) || !operand_is_ready(m, operand, y)) return false;
  if (m.values[operand].sequence && !m.values[y].sequence) return false;
  return stride[a.rank - 1] <= 1 && reach(a, stride) < m.values[operand].row_elems;
}

bool accepts_binary(const OpChoice &choice, const BlobNode &node) {
  const AttrBinary *a = choice.model->attr<AttrBinary>(node);
  return a == nullptr || a->op <= uint32_t(kLastKernelBinary);
}

rnnp_status check_binary(const Model &m, const BlobNode &node) {
  const AttrBinary *a = m.attr<AttrBinary>(node);
  const uint32_t y = m.node_output(node, 0);
  if (a == nullptr || a->rank == 0 || a->rank > kBlobMaxRank || !is_f32_value(m, y, 0)) return RNNP_E_BLOB_CORRUPT;
  uint64_t elems = 1;
  for (uint32_t i = 0; i < a->rank; ++i) {
    if (a->dims[i] == 0 || elems > UINT32_MAX) return RNNP_E_BLOB_CORRUPT;
    elems *= a->dims[i];
  }
  if (elems != m.values[y].row_elems) return RNNP_E_BLOB_CORRUPT;
  if (!operand_fits(m, m.node_input(node, 0), y, *a, a->a_stride) || !operand_fits(m, m.node_input(node, 1), y, *a, a->b_stride))
    return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

rnnp_status build_binary(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrBinary *a = env->model->attr<AttrBinary>(node);
  const Kernel *k = find_kernel(*env->kernels, KernelFamily::kBinary, DType::kF32, 0, env->isa);
  if (k == nullptr) return RNNP_E_LAYOUT;
  BinaryNode *b = env->arena->take<BinaryNode>(1);
  *object = b;
  if (b != nullptr) *b = {k->binary, a};
  return RNNP_OK;
}

// All but the last two axes as an odometer; those are one kernel call.
void binary_row(const BinaryNode &node, const float *a, const float *b, float *y) {
  const AttrBinary &t = *node.attr;
  const uint32_t last = t.rank - 1, outer = last == 0 ? 0 : last - 1;
  BinaryArgs args = {a, b, y, t.dims[last], t.a_stride[last], t.b_stride[last], t.op, 1, 0, 0};
  if (last != 0) args.rows = t.dims[outer], args.a_row = t.a_stride[outer], args.b_row = t.b_stride[outer];
  uint32_t index[kBlobMaxRank] = {};
  for (;;) {
    node.fn(&args);
    args.y += args.rows * args.n;
    uint32_t axis = outer;
    for (; axis > 0; --axis) {
      const uint32_t i = axis - 1;
      args.a += t.a_stride[i];
      args.b += t.b_stride[i];
      if (++index[i] < t.dims[i]) break;
      args.a -= size_t{t.a_stride[i]} * t.dims[i];
      args.b -= size_t{t.b_stride[i]} * t.dims[i];
      index[i] = 0;
    }
    if (axis == 0) return;
  }
}

// A once-per-run operand of a per-step result repeats for every step: its row is the batch row.
const float *operand_row(const RunEnv &env, uint32_t operand, uint32_t y, size_t row) {
  const bool repeats = env.model->values[operand].sequence != env.model->values[y].sequence;
  return row_of(env.values[operand], repeats ? row % env.batch : row);
}

void run_binary(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const BinaryNode &b = *static_cast<const BinaryNode *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    binary_row(b, operand_row(env, env.model->node_input(node, 0), y, row),
               operand_row(env, env.model->node_input(node, 1), y, row), row_of(env.values[y], row));
  }
}

}  // namespace

RNNPACK_OP(unary, {OpKind::kUnary, accepts_unary, check_unary, nullptr, build_unary, nullptr, run_unary});
RNNPACK_OP(binary, {OpKind::kBinary, accepts_binary, check_binary, nullptr, build_binary, nullptr, run_binary});

}  // namespace rnnp
