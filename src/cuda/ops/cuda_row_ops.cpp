// cuda_row_ops.cpp -- the operators within a row, each one launch per chunk. Touch their outputs only.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/op_args.h"
#include "cuda/ops/cuda_ops.h"

namespace rnnp {
namespace cuda {
namespace {

// What a node keeps: its session's context, and weights of its own.
struct PlainNode {
  Context *context;
  const float *first, *second;
};

rnnp_status keep_node(BuildEnv *env, void **object, const float *first = nullptr, const float *second = nullptr) {
  PlainNode *n = env->arena->take<PlainNode>(1);
  *object = n;
  if (n != nullptr) *n = {context_of(env->memory), first, second};
  return RNNP_OK;
}
rnnp_status build_plain(BuildEnv *env, const BlobNode &, void **object) {
  return keep_node(env, object);
}

Operand operand_of(const RunEnv &env, uint32_t value, uint32_t y) {
  const bool repeats = env.model->values[value].sequence != env.model->values[y].sequence;
  return {row_of(env.values[value], 0), env.values[value].row_bytes / sizeof(float), repeats ? env.batch : 0};
}

// x, y and the numbers of one run of a node with one operand.
struct Single {
  const RunEnv &env;
  uint32_t x, y;
  uint64_t rows;

  Single(const RunEnv &e, const BlobNode &node)
      : env(e), x(e.model->node_input(node, 0)), y(e.model->node_output(node, 0)), rows(chunk_rows(e, y)) {}
  bool is_due() const { return runs_in_chunk(env, y); }
  float *from() const { return row_of(env.values[x], 0); }
  float *to() const { return row_of(env.values[y], 0); }
  uint32_t y_elems() const { return env.model->values[y].row_elems; }
};

template <class Args>
void go(void *object, KernelId kernel, const Args &args) {
  launch_plain(static_cast<const PlainNode *>(object)->context, kernel, args);
}

template <class Args>
void go_by_warps(void *object, KernelId kernel, const Args &args) {
  launch_by_warps(static_cast<const PlainNode *>(object)->context, kernel, kWarps, 0, args);
}

rnnp_status check_unary(const Model &m, const BlobNode &node) {
  const AttrUnary *a = m.attr<AttrUnary>(node);
  if (a != nullptr && a->act.act > uint32_t(kLastAct)) return RNNP_E_BLOB_CORRUPT;
  return rnnp_op_unary.check(m, node);
}
void run_unary(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  go(object, KernelId::unary_elements, UnaryArgs{s.rows * s.y_elems(), s.from(), s.to(), env.model->attr<AttrUnary>(node)->act});
}

// Operations with a CPU kernel and those without are checked by two operators there.
rnnp_status check_binary(const Model &m, const BlobNode &node) {
  const AttrBinary *a = m.attr<AttrBinary>(node);
  const bool compares = a != nullptr && a->op > uint32_t(kLastKernelBinary);
  return compares ? rnnp_op_compare.check(m, node) : rnnp_op_binary.check(m, node);
}
void run_binary(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  go(object, KernelId::binary_elements,
     BinaryArgs{s.rows * s.y_elems(), operand_of(env, s.x, s.y), operand_of(env, env.model->node_input(node, 1), s.y), s.to(),
                s.y_elems(), *env.model->attr<AttrBinary>(node)});
}

rnnp_status check_where(const Model &m, const BlobNode &node) {
  return rnnp_op_where.check(m, node);
}
void run_where(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  WhereArgs a = {s.rows * s.y_elems(), {}, s.to(), s.y_elems(), *env.model->attr<AttrWhere>(node)};
  for (uint32_t i = 0; i < 3; ++i) a.from[i] = operand_of(env, env.model->node_input(node, i), s.y);
  go(object, KernelId::where_elements, a);
}

rnnp_status check_copy(const Model &m, const BlobNode &node) {
  return rnnp_op_copy.check(m, node);
}
void run_copy(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  const AttrCopy &t = *env.model->attr<AttrCopy>(node);
  uint32_t elems = 1;
  for (uint32_t i = 0; i < t.rank; ++i) elems *= t.dims[i];
  go(object, KernelId::copy_elements, CopyArgs{s.rows * elems, operand_of(env, s.x, s.y), s.to(), s.y_elems(), elems, t});
}

rnnp_status check_softmax(const Model &m, const BlobNode &node) {
  return rnnp_op_softmax.check(m, node);
}
void run_softmax(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  const AttrSoftmax &t = *env.model->attr<AttrSoftmax>(node);
  go_by_warps(object, KernelId::softmax_lines, SoftmaxArgs{s.rows * t.outer * t.inner, s.from(), s.to(), t});
}

rnnp_status check_norm(const Model &m, const BlobNode &node) {
  return rnnp_op_norm.check(m, node);
}
rnnp_status build_norm(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrNorm &a = *env->model->attr<AttrNorm>(node);
  const size_t bytes = (a.per_outer ? a.outer : a.elems) * sizeof(float);
  Image *image = &context_of(env->memory)->image;
  const float *scale = a.scale != kNone ? image->put(env->model->weights(a.scale), bytes) : nullptr;
  const float *bias = a.bias != kNone ? image->put(env->model->weights(a.bias), bytes) : nullptr;
  return keep_node(env, object, scale, bias);
}
void run_norm(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  const PlainNode &n = *static_cast<const PlainNode *>(object);
  const AttrNorm &t = *env.model->attr<AttrNorm>(node);
  go_by_warps(object, KernelId::norm_groups, NormArgs{s.rows * t.outer, s.from(), n.first, n.second, s.to(), t});
}

rnnp_status check_reduce(const Model &m, const BlobNode &node) {
  return rnnp_op_reduce.check(m, node);
}
void run_reduce(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  go_by_warps(object, KernelId::reduce_results,
              ReduceArgs{s.rows * s.y_elems(), s.from(), s.to(), env.model->values[s.x].row_elems, s.y_elems(),
                         *env.model->attr<AttrReduce>(node)});
}

rnnp_status check_matmul(const Model &m, const BlobNode &node) {
  return rnnp_op_matmul.check(m, node);
}
void run_matmul(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  if (!s.is_due()) return;
  launch_by_warps(static_cast<const PlainNode *>(object)->context, KernelId::matmul_elements, kLanes, kThreads * sizeof(float),
                  MatMulArgs{s.rows * s.y_elems(), operand_of(env, s.x, s.y), operand_of(env, env.model->node_input(node, 1), s.y),
                             s.to(), s.y_elems(), *env.model->attr<AttrMatMul>(node)});
}

rnnp_status check_gather(const Model &m, const BlobNode &node) {
  return rnnp_op_gather.check(m, node);
}
rnnp_status build_gather(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrGather &a = *env->model->attr<AttrGather>(node);
  const size_t bytes = size_t{a.rows} * a.elems * sizeof(float);
  return keep_node(env, object, context_of(env->memory)->image.put(env->model->weights(a.table), bytes));
}
void run_gather(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const Single s(env, node);
  const PlainNode &n = *static_cast<const PlainNode *>(object);
  const int32_t *x = static_cast<const int32_t *>(env.values[s.x].data);
  go(object, KernelId::gather_elements,
     GatherArgs{s.rows * s.y_elems(), x, n.first, s.to(), n.context->findings, *env.model->attr<AttrGather>(node)});
}

}  // namespace

const Op op_unary = {OpKind::kUnary, nullptr, check_unary, nullptr, build_plain, nullptr, run_unary};
const Op op_binary = {OpKind::kBinary, nullptr, check_binary, nullptr, build_plain, nullptr, run_binary};
const Op op_where = {OpKind::kWhere, nullptr, check_where, nullptr, build_plain, nullptr, run_where};
const Op op_copy = {OpKind::kCopy, nullptr, check_copy, nullptr, build_plain, nullptr, run_copy};
const Op op_softmax = {OpKind::kSoftmax, nullptr, check_softmax, nullptr, build_plain, nullptr, run_softmax};
const Op op_norm = {OpKind::kNorm, nullptr, check_norm, nullptr, build_norm, nullptr, run_norm};
const Op op_reduce = {OpKind::kReduce, nullptr, check_reduce, nullptr, build_plain, nullptr, run_reduce};
const Op op_matmul = {OpKind::kMatMul, nullptr, check_matmul, nullptr, build_plain, nullptr, run_matmul};
const Op op_gather = {OpKind::kGather, nullptr, check_gather, nullptr, build_gather, nullptr, run_gather};

}  // namespace cuda
}  // namespace rnnp
