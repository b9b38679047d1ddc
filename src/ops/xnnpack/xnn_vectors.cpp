// xnn_vectors.cpp -- softmax and element-wise functions on XNNPACK: one operator object, so one thread, vector by vector.
// A vector with a NaN or an infinity, and one that XNNPACK refuses, goes through our kernel.
// Touches session memory at init, the output and a pad in run; in place allowed. SPDX-License-Identifier: Apache-2.0
#include "ops/xnnpack/xnn_rows.h"

namespace rnnp {
namespace {

using UnaryCreate = xnn_status (*)(size_t, size_t, size_t, uint32_t, xnn_operator_t *);

struct UnaryEntry {
  UnaryCreate create;
  XnnSetup setup;
};

UnaryEntry find_unary(const BlobActivation &a) {
  switch (Act(a.act)) {
    case Act::kSigmoid:
      return {xnn_create_sigmoid_nc_f32, xnn_setup_sigmoid_nc_f32};
    case Act::kHardSwish:
      return {xnn_create_hardswish_nc_f32, xnn_setup_hardswish_nc_f32};
    case Act::kAbs:
      return {xnn_create_abs_nc_f32, xnn_setup_abs_nc_f32};
    case Act::kNeg:
      return {xnn_create_negate_nc_f32, xnn_setup_negate_nc_f32};
    case Act::kSqrt:
      return {xnn_create_square_root_nc_f32, xnn_setup_square_root_nc_f32};
    default:
      return {nullptr, nullptr};
  }
}

struct XnnVectors {
  RNNPACK_BYTES_32(56);
  XnnNode node;
  const Kernel *kernel;  // ours: of family kSoftmax or kAct
  UnaryEntry entry;
  BlobActivation act;
  uint32_t elems, per_row;  // of a vector, vectors of a row
  void *memory;
  xnn_operator_t op;
};

rnnp_status build_vectors(BuildEnv *env, const BlobNode &node, const Op &portable, XnnVectors v, void **object) {
  const rnnp_status status = build_portable(env, node, portable, v.elems, &v.node);
  if (status != RNNP_OK) return status;
  XnnVectors *kept = env->arena->take<XnnVectors>(1);
  v.memory = env->arena->take_bytes(kXnnObjectBytes);
  *object = kept;
  if (v.memory != nullptr) *kept = v;
  return RNNP_OK;
}

const Kernel *softmax_kernel(const OpChoice &choice) {
  return find_kernel(*choice.kernels, KernelFamily::kSoftmax, DType::kF32, 0, choice.isa);
}

bool accepts_softmax(const OpChoice &choice, const BlobNode &node) {
  const AttrSoftmax *a = choice.model->attr<AttrSoftmax>(node);
  return a != nullptr && a->inner == 1 && a->log == 0 && xnn_is_asked(choice, softmax_kernel(choice));
}

rnnp_status check_softmax(const Model &m, const BlobNode &node) {
  return rnnp_op_softmax.check(m, node);
}

rnnp_status build_softmax(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrSoftmax &a = *env->model->attr<AttrSoftmax>(node);
  const UnaryEntry entry = {xnn_create_softmax_nc_f32, xnn_setup_softmax_nc_f32};
  const XnnVectors v = {{}, softmax_kernel(*env), entry, {}, a.axis, a.outer, nullptr, nullptr};
  return build_vectors(env, node, rnnp_op_softmax, v, object);
}

bool accepts_unary(const OpChoice &choice, const BlobNode &node) {
  const AttrUnary *a = choice.model->attr<AttrUnary>(node);
  return a != nullptr && find_unary(a->act).create != nullptr && xnn_is_asked(choice, find_act(choice, a->act));
}

rnnp_status check_unary(const Model &m, const BlobNode &node) {
  return rnnp_op_unary.check(m, node);
}

rnnp_status build_unary(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const BlobActivation &act = m.attr<AttrUnary>(node)->act;
  const uint32_t elems = m.values[m.node_output(node, 0)].row_elems;
  return build_vectors(env, node, rnnp_op_unary, {{}, find_act(*env, act), find_unary(act), act, elems, 1, nullptr, nullptr},
                       object);
}

bool create(FinishEnv *env, XnnVectors *v) {
  if (!xnn_ready()) return false;
  const XnnMemoryScope scope(v->memory, kXnnObjectBytes);
  xnn_operator_t op = nullptr;
  const xnn_status status = v->entry.create(v->elems, v->elems, v->elems, 0, &op);
  v->op = xnn_keep(status, op, scope, env);
  return v->op != nullptr;
}

StepFn finish(FinishEnv *env, const BlobNode &node, void *object) {
  XnnVectors &v = *static_cast<XnnVectors *>(object);
  return finish_node(env, node, &v.node, create(env, &v));
}

void run_ours(const XnnVectors &v, const float *x, float *y) {
  if (v.kernel->family == KernelFamily::kSoftmax) {
    const SoftmaxArgs args = {x, y, v.elems, 1, 0};
    v.kernel->softmax(&args);
  } else {
    const ActArgs args = {x, y, v.elems, v.act};
    v.kernel->act(&args);
  }
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const XnnVectors &v = *static_cast<const XnnVectors *>(object);
  if (!v.node.taken) {
    v.node.portable->run(env, node, v.node.object, thread);
    return;
  }
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (thread != 0 || !runs_in_chunk(env, y)) return;
  const float *from = row_of(env.values[x], 0);
  float *to = row_of(env.values[y], 0);
  for (size_t left = chunk_rows(env, y) * v.per_row; left != 0;) {
    const size_t done = xnn_run_rows(v.op, v.entry.setup, {from, v.elems, to, v.elems, finite_rows(from, v.elems, left)},
                                     view_as<float>(env.scratch));
    left -= done;
    from += done * v.elems;
    to += done * v.elems;
    if (left == 0) return;
    run_ours(v, from, to);
    --left;
    from += v.elems;
    to += v.elems;
  }
}

}  // namespace

const Op rnnp_op_xnn_softmax = {OpKind::kSoftmax, accepts_softmax, check_softmax, nullptr, build_softmax, finish, run};
const Op rnnp_op_xnn_unary = {OpKind::kUnary, accepts_unary, check_unary, nullptr, build_unary, finish, run};

}  // namespace rnnp
