// pointwise.cpp -- unary activations and binary arithmetic with broadcasting, of all rows at once where they are evenly spaced,
// else row by row; threads own rows. Touches its output only; the output may share memory with an input of the same shape.
// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

namespace rnnp {
namespace {

struct Unary {
  RNNPACK_BYTES_32(32);
  const ValueSlot *x, *y;  // of the fast path
  size_t step_elems;
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
  if (u != nullptr) *u = {nullptr, nullptr, 0, k->act, a->act, m.values[m.node_output(node, 0)].row_elems};
  return RNNP_OK;
}

void run_unary(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Unary &u = *static_cast<const Unary *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  const ActArgs args = {row_of(env.values[x], begin), row_of(env.values[y], begin), (end - begin) * u.elems, u.act};
  u.fn(&args);
}

void run_unary_step(void *object) {
  const Unary &u = *static_cast<const Unary *>(object);
  const ActArgs args = {row_of(*u.x, 0), row_of(*u.y, 0), u.step_elems, u.act};
  u.fn(&args);
}

StepFn finish_unary(FinishEnv *env, const BlobNode &node, void *object) {
  Unary &u = *static_cast<Unary *>(object);
  const uint32_t y = env->model->node_output(node, 0);
  if (env->threads != 1 || !env->model->values[y].sequence) return nullptr;
  u.x = &env->values[env->model->node_input(node, 0)];
  u.y = &env->values[y];
  u.step_elems = size_t{env->max_batch} * u.elems;
  return run_unary_step;
}

struct BinaryNode {
  RNNPACK_BYTES_32(72);
  const ValueSlot *step_a, *step_b, *step_y;  // of the fast path
  BinaryArgs step;
  BinaryFn fn;
  const AttrBinary *attr;
  uint32_t elems;  // of a row of the result; 0: a row takes calls of its own
  uint32_t a_step, b_step;
};

// Largest element offset that `stride` reaches over dims.
uint64_t reach_of(const AttrBinary &a, const uint32_t *stride) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < a.rank; ++i) {
    const uint64_t far = uint64_t{a.dims[i] - 1} * stride[i];
    if (far > UINT32_MAX) return UINT64_MAX;
    last += far;
  }
  return last;
}

bool kernel_operand_fits(const Model &m, uint32_t operand, uint32_t y, const AttrBinary &a, const uint32_t *stride) {
  if (!is_f32_operand(m, operand, y)) return false;
  return stride[a.rank - 1] <= 1 && reach_of(a, stride) < m.values[operand].row_elems;
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
  if (!kernel_operand_fits(m, m.node_input(node, 0), y, *a, a->a_stride) ||
      !kernel_operand_fits(m, m.node_input(node, 1), y, *a, a->b_stride))
    return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

// Whether an operand's elements are read one after the other (*step 1), or one of them throughout (0).
bool is_run(const AttrBinary &a, const uint32_t *stride, uint32_t *step) {
  uint32_t dense = 1;
  bool solid = true, single = true;
  for (uint32_t i = a.rank; i-- > 0; dense *= a.dims[i]) {
    if (a.dims[i] == 1) continue;
    solid = solid && stride[i] == dense;
    single = single && stride[i] == 0;
  }
  *step = solid ? 1 : 0;
  return solid || single;
}

rnnp_status build_binary(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrBinary *a = env->model->attr<AttrBinary>(node);
  const Kernel *k = find_kernel(*env->kernels, KernelFamily::kBinary, DType::kF32, 0, env->isa);
  if (k == nullptr) return RNNP_E_LAYOUT;
  BinaryNode *b = env->arena->take<BinaryNode>(1);
  *object = b;
  if (b == nullptr) return RNNP_OK;
  *b = {};
  b->fn = k->binary;
  b->attr = a;
  if (is_run(*a, a->a_stride, &b->a_step) && is_run(*a, a->b_stride, &b->b_step))
    b->elems = env->model->values[env->model->node_output(node, 0)].row_elems;
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

// Where an operand's rows are. A once-per-run operand of a per-step result repeats for every step: its row is the batch row.
struct OperandRows {
  const ValueSlot &slot;
  uint32_t period;  // 0: as many rows as the result has

  float *row(size_t i) const { return row_of(slot, period != 0 ? i % period : i); }
  bool evenly_spaced() const { return period <= 1 || slot.row_bytes == 0; }
  size_t elems() const { return period == 1 ? 0 : slot.row_bytes / sizeof(float); }
};

OperandRows operand_rows(const Model &m, const ValueSlot *values, uint32_t batch, uint32_t operand, uint32_t y) {
  const bool repeats = m.values[operand].sequence != m.values[y].sequence;
  return {values[operand], repeats ? batch : 0};
}

// Of so many rows; where they lie is left open.
BinaryArgs args_of(const BinaryNode &node, const OperandRows &a, const OperandRows &b, uint32_t rows) {
  BinaryArgs args = {nullptr, nullptr, nullptr, node.elems, node.a_step, node.b_step, node.attr->op, rows, a.elems(), b.elems()};
  if (args.n == 1) args.a_step = args.a_row != 0, args.b_step = args.b_row != 0;
  if (args.a_row == args.n * args.a_step && args.b_row == args.n * args.b_step) args.n *= rows, args.rows = 1;
  return args;
}

// All of them, in as few calls as their number allows.
void binary_rows(const BinaryNode &node, const OperandRows &a, const OperandRows &b, const ValueSlot &y, size_t begin, size_t end) {
  constexpr uint32_t kMost = 1u << 30;
  while (begin < end) {
    const uint32_t rows = end - begin < kMost ? static_cast<uint32_t>(end - begin) : kMost;
    BinaryArgs args = args_of(node, a, b, rows);
    args.a = a.row(begin);
    args.b = b.row(begin);
    args.y = row_of(y, begin);
    node.fn(&args);
    begin += rows;
  }
}

void run_binary_step(void *object) {
  BinaryNode &n = *static_cast<BinaryNode *>(object);
  n.step.a = row_of(*n.step_a, 0);
  n.step.b = row_of(*n.step_b, 0);
  n.step.y = row_of(*n.step_y, 0);
  n.fn(&n.step);
}

StepFn finish_binary(FinishEnv *env, const BlobNode &node, void *object) {
  BinaryNode &n = *static_cast<BinaryNode *>(object);
  const Model &m = *env->model;
  const uint32_t y = m.node_output(node, 0);
  if (env->threads != 1 || !m.values[y].sequence || n.elems == 0) return nullptr;
  const OperandRows a = operand_rows(m, env->values, env->max_batch, m.node_input(node, 0), y);
  const OperandRows b = operand_rows(m, env->values, env->max_batch, m.node_input(node, 1), y);
  if (!a.evenly_spaced() || !b.evenly_spaced()) return nullptr;
  n.step_a = &a.slot;
  n.step_b = &b.slot;
  n.step_y = &env->values[y];
  n.step = args_of(n, a, b, env->max_batch);
  return run_binary_step;
}

// An element of a constant for all steps of an element, or one for all.
bool has_constant(const Model &m, const BlobNode &node) {
  return is_const(m, m.node_input(node, 0)) || is_const(m, m.node_input(node, 1));
}

void run_binary_channel_major(const RunEnv &env, const BlobNode &node, const BinaryNode &n) {
  const Model &m = *env.model;
  const uint32_t a = m.node_input(node, 0), b = m.node_input(node, 1), y = m.node_output(node, 0);
  const auto row = [&](uint32_t operand, const uint32_t *stride) {
    return is_const(m, operand) ? size_t{reach_of(*n.attr, stride) != 0} : size_t{env.steps};
  };
  const BinaryArgs args = {row_of(env.values[a], 0),
                           row_of(env.values[b], 0),
                           row_of(env.values[y], 0),
                           env.steps,
                           !is_const(m, a),
                           !is_const(m, b),
                           n.attr->op,
                           m.values[y].row_elems,
                           row(a, n.attr->a_stride),
                           row(b, n.attr->b_stride)};
  n.fn(&args);
}

void run_binary(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const BinaryNode &n = *static_cast<const BinaryNode *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  if (is_channel_major(env, y) && has_constant(*env.model, node)) return run_binary_channel_major(env, node, n);
  const OperandRows a = operand_rows(*env.model, env.values, env.batch, env.model->node_input(node, 0), y);
  const OperandRows b = operand_rows(*env.model, env.values, env.batch, env.model->node_input(node, 1), y);
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  if (n.elems != 0 && a.evenly_spaced() && b.evenly_spaced()) return binary_rows(n, a, b, env.values[y], begin, end);
  for (size_t row = begin; row < end; ++row) binary_row(n, a.row(row), b.row(row), row_of(env.values[y], row));
}

// Where every operand's element is that of the result, or one for all, it does not matter in which order elements come.
bool unary_takes_channel_major(const OpChoice &choice, const BlobNode &node) {
  return choice.model->values[choice.model->node_output(node, 0)].sequence != 0;
}

bool operand_is_by_element(const Model &m, uint32_t operand, uint32_t y, const AttrBinary &a, const uint32_t *stride) {
  if (is_const(m, operand) && reach_of(a, stride) == 0) return true;
  uint64_t packed = 1;
  for (uint32_t i = a.rank; i-- > 0; packed *= a.dims[i]) {
    if (a.dims[i] != 1 && stride[i] != packed) return false;
  }
  const BlobValue &v = m.values[operand];
  return v.row_elems == m.values[y].row_elems && (v.sequence || is_const(m, operand));
}

bool binary_takes_channel_major(const OpChoice &choice, const BlobNode &node) {
  const Model &m = *choice.model;
  const AttrBinary &a = *m.attr<AttrBinary>(node);
  const uint32_t y = m.node_output(node, 0);
  return m.values[y].sequence && operand_is_by_element(m, m.node_input(node, 0), y, a, a.a_stride) &&
         operand_is_by_element(m, m.node_input(node, 1), y, a, a.b_stride);
}

}  // namespace

RNNPACK_OP(unary,
           {OpKind::kUnary, accepts_unary, check_unary, nullptr, build_unary, finish_unary, run_unary, unary_takes_channel_major});
RNNPACK_OP(binary, {OpKind::kBinary, accepts_binary, check_binary, nullptr, build_binary, finish_binary, run_binary,
                    binary_takes_channel_major});

}  // namespace rnnp
