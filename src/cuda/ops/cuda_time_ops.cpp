// cuda_time_ops.cpp -- the operators that look along time, keep states or slide windows. Touch their outputs and their own states.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/op_args.h"
#include "cuda/ops/cuda_ops.h"
#include "cuda/pack_image.h"
#include "format/loop_nodes.h"
#include "ops/conv_history.h"
#include "ops/loop.h"
#include "pack/winograd.h"

namespace rnnp {
namespace cuda {
namespace {

struct TimeNode {
  Context *context;
  const float *weights, *bias;  // of a convolution: [groups][out][depth], [groups][out]
  const int8_t *byte_weights;
  ByteScales bytes;
};

rnnp_status build_time(BuildEnv *env, const BlobNode &, void **object) {
  TimeNode *n = env->arena->take<TimeNode>(1);
  *object = n;
  if (n != nullptr) *n = {context_of(env->memory), nullptr, nullptr, nullptr, {}};
  return RNNP_OK;
}

// state: kNone for none. lengths: the device's, or nullptr.
ChunkArgs chunk_of(const RunEnv &env, const Context &c, uint32_t state, const int32_t *lengths) {
  ChunkArgs a = {};
  a.first_step = env.first_step;
  a.steps = env.steps;
  a.batch = env.batch;
  a.lengths = lengths;
  a.rows = c.rows;
  a.state = state != kNone ? env.states[state].buffer[0] : nullptr;
  a.state_row = state != kNone ? env.states[state].row_elems : 0;
  a.last_chunk = env.last_chunk;
  a.anew = env.first_chunk && (env.model->header->flags & kBlobCausal) == 0;
  return a;
}

rnnp_status check_time_step(const Model &m, const BlobNode &node) {
  return rnnp_op_time_step.check(m, node);
}
void run_time_step(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  Context *c = static_cast<const TimeNode *>(object)->context;
  const AttrTimeStep &t = *env.model->attr<AttrTimeStep>(node);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0), elems = env.model->values[y].row_elems;
  if (!t.last && !env.first_chunk) return;
  launch_plain(c, KernelId::take_time_step,
               TimeStepArgs{uint64_t{env.batch} * elems, row_of(env.values[x], 0), row_of(env.values[y], 0), elems, t.last,
                            chunk_of(env, *c, t.state, c->lengths)});
}

rnnp_status check_time_reduce(const Model &m, const BlobNode &node) {
  return rnnp_op_time_reduce.check(m, node);
}
void run_time_reduce(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  Context *c = static_cast<const TimeNode *>(object)->context;
  const AttrTimeReduce &t = *env.model->attr<AttrTimeReduce>(node);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0), elems = env.model->values[y].row_elems;
  TimeReduceArgs a = {uint64_t{env.batch} * elems,           row_of(env.values[x], 0), row_of(env.values[y], 0), elems, t.op,
                      chunk_of(env, *c, t.state, c->lengths)};
  launch_plain(c, KernelId::reduce_time, a);
  a.count = env.batch;
  launch_plain(c, KernelId::count_time, a);
}

rnnp_status check_time_reverse(const Model &m, const BlobNode &node) {
  return rnnp_op_time_reverse.check(m, node);
}
void run_time_reverse(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  Context *c = static_cast<const TimeNode *>(object)->context;
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0), elems = env.model->values[y].row_elems;
  const int32_t *lengths = device_lengths(*c, env, env.model->node_input(node, 1));
  launch_plain(c, KernelId::reverse_time,
               TimeReverseArgs{uint64_t{chunk_rows(env, y)} * elems, row_of(env.values[x], 0), row_of(env.values[y], 0), elems,
                               chunk_of(env, *c, kNone, lengths)});
}

rnnp_status check_state_read(const Model &m, const BlobNode &node) {
  return rnnp_op_state_read.check(m, node);
}
rnnp_status check_state_write(const Model &m, const BlobNode &node) {
  return rnnp_op_state_write.check(m, node);
}
struct ReadNode {
  TimeNode time;
  LoopSlots loop;
};

rnnp_status build_state_read(BuildEnv *env, const BlobNode &node, void **object) {
  ReadNode *n = env->arena->take<ReadNode>(1);
  *object = n;
  const LoopSlots loop = take_loop_slots(env, node);
  if (n != nullptr) *n = {{context_of(env->memory), nullptr, nullptr, nullptr, {}}, loop};
  return RNNP_OK;
}

void run_loop_of_read(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread, const LoopNodes &nodes) {
  run_loop(env, node, static_cast<const ReadNode *>(object)->loop, thread, nodes);
}

constexpr LoopOp kLoop = {loop_nodes, run_loop_of_read};

enum class Move : uint8_t { kRead, kWrite, kWriteOneToAll };

// rows: of a value, or nullptr, zeros that are written. lengths: of the rows that are written, on the device.
void move_state(const RunEnv &env, const BlobNode &node, Context *c, float *rows, Move move, const int32_t *lengths) {
  const uint32_t state = env.model->attr<AttrState>(node)->state, elems = env.model->states[state].elems;
  launch_plain(c, KernelId::move_state,
               StateCopyArgs{uint64_t{env.batch} * elems, rows, elems, move == Move::kWriteOneToAll ? 0 : elems,
                             move != Move::kRead, chunk_of(env, *c, state, lengths)});
}

// What a reset makes of all rows.
void begin_anew(const RunEnv &env, const BlobNode &node, Context *c) {
  const uint32_t state = env.model->attr<AttrState>(node)->state;
  const BlobState &s = env.model->states[state];
  float *initial = s.init == kNone ? nullptr : const_cast<float *>(c->initials[state]);
  move_state(env, node, c, initial, s.per_row ? Move::kWrite : Move::kWriteOneToAll, nullptr);
}
void run_state_read(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  Context *c = static_cast<const ReadNode *>(object)->time.context;
  const uint32_t start = env.model->node_input(node, 0);
  float *from = start != kNone ? row_of(env.values[start], 0) : nullptr;
  if (env.first_chunk && from != nullptr) move_state(env, node, c, from, Move::kWrite, nullptr);
  if (env.first_chunk && begins_anew(*env.model, node)) begin_anew(env, node, c);
  move_state(env, node, c, row_of(env.values[env.model->node_output(node, 0)], 0), Move::kRead, nullptr);
}
void run_state_write(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  Context *c = static_cast<const TimeNode *>(object)->context;
  const uint32_t x = env.model->node_input(node, 0);
  move_state(env, node, c, row_of(env.values[x], 0), Move::kWrite, device_lengths(*c, env, env.model->node_input(node, 1)));
}

// --- Windows -----------------------------------------------------------------------------------------------------------------

rnnp_status check_conv_node(const Model &m, const BlobNode &node) {
  const Op &op = is_depthwise(m, node)           ? rnnp_op_depthwise
                 : has_winograd_weights(m, node) ? rnnp_op_conv_winograd
                 : is_nchw(m, node)              ? rnnp_op_conv_nchw
                                                 : rnnp_op_conv;
  return op.check(m, node);
}

// Numbers beside the channels of a convolution, in the order of its channels: [groups][out]. `of` reads one.
template <class Of>
const float *pack_channels(Context *c, uint32_t channels, Of of) {
  const Image::Part part = c->image.reserve(size_t{channels} * sizeof(float));
  for (uint32_t i = 0; part.host != nullptr && i < channels; ++i) {
    const float v = of(i);
    copy_bytes(part.host + i * sizeof v, &v, sizeof v);
  }
  return view_as<float>(part.device);
}

// The weights of all kinds of convolutions in one order.
rnnp_status build_conv(BuildEnv *env, const BlobNode &node, void **object) {
  Context *c = context_of(env->memory);
  const Model &m = *env->model;
  const AttrConv &a = *m.attr<AttrConv>(node);
  const Matrix matrix = m.matrix(a.matrix);
  Weights kind;
  if (!kind_of_panels(matrix.format, Weights::kF32, &kind) || are_blocks(kind)) return RNNP_E_LAYOUT;
  const bool bytes = are_bytes(kind);
  const uint32_t depth = conv_depth(a), channels = a.groups * a.out_channels;
  const bool points = has_winograd_weights(m, node), lines = points && a.y_plane == 0, apart = matrix.count > 1 && !lines;
  const size_t beside = vector_bytes(matrix.format, matrix.shape) / sizeof(float), size = bytes ? 1 : sizeof(float);
  const auto index_of = [&](uint32_t channel) { return apart ? channel / a.out_channels : lines ? kLineStart : 0; };
  const auto unit_of = [&](uint32_t channel) { return apart ? channel % a.out_channels : channel; };
  const auto pack = [&](const float *numbers) {
    return pack_channels(c, channels, [&](uint32_t i) {
      return numbers == nullptr ? 0.0f : number_beside(matrix, numbers + index_of(i) * beside, 1, 0, unit_of(i));
    });
  };
  const Image::Part weights = c->image.reserve(mul_sat(mul_sat(channels, depth), size));
  for (uint32_t i = 0; weights.host != nullptr && i < channels; ++i) {
    for (uint32_t k = 0; k < depth; ++k) {
      const auto packed = [&](uint32_t at) { return weight_in_panels(matrix, index_of(i), 0, unit_of(i), at); };
      const uint32_t tap = k / a.in_channels, channel = k % a.in_channels, at = tap / 3 * a.in_channels + channel;
      const float v = lines    ? line_weight(tap % 3, [&](uint32_t p) { return weight_in_panels(matrix, p, 0, unit_of(i), at); })
                      : points ? winograd_weight(tap, [&](uint32_t p) { return packed(p * a.in_channels + channel); })
                               : packed(k);
      put_weight(bytes ? Weights::kI8 : Weights::kF32, weights.host, (size_t{i} * depth + k) * size, v);
    }
  }
  TimeNode n = {c, view_as<float>(weights.device), nullptr, nullptr, {}};
  n.bias = pack(m.weights_or_none(a.bias));
  if (bytes) {
    n.weights = nullptr;
    n.byte_weights = view_as<int8_t>(static_cast<const void *>(weights.device));
    const uint32_t groups = kind == Weights::kI4 ? ceil_div(depth, matrix.group_k) : 1;
    n.bytes.scale = pack_channels(c, channels * groups, [&](uint32_t i) {
      const uint32_t channel = i / groups, index = index_of(channel), unit = unit_of(channel);
      if (kind == Weights::kI4) return scale_of_group(matrix, index, 0, unit, i % groups * matrix.group_k);
      return number_beside(matrix, matrix.scales + index * beside, 1, 0, unit);
    });
    n.bytes.diagonal = matrix.diagonal != nullptr ? pack(matrix.diagonal) : nullptr;
    n.bytes.factor = matrix.lhs_scale;
    n.bytes.group_k = matrix.group_k;
  }
  TimeNode *kept = env->arena->take<TimeNode>(1);
  *object = kept;
  if (kept != nullptr) *kept = n;
  return RNNP_OK;
}

void run_conv(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const TimeNode &n = *static_cast<const TimeNode *>(object);
  Context *c = n.context;
  const AttrConv &t = *env.model->attr<AttrConv>(node);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const uint64_t positions = uint64_t{chunk_rows(env, y)} * window_positions(t.window);
  ConvArgs a = {positions * t.groups * t.out_channels,
                row_of(env.values[x], 0),
                n.weights,
                n.bias,
                n.byte_weights,
                n.bytes,
                row_of(env.values[y], 0),
                env.model->values[x].row_elems,
                env.model->values[y].row_elems,
                conv_depth(t),
                chunk_of(env, *c, t.state, c->lengths),
                t};
  if (!env.model->values[y].sequence) a.chunk.steps = 1, a.chunk.lengths = nullptr;
  launch_plain(c, n.byte_weights != nullptr ? KernelId::conv_elements_of_bytes : KernelId::conv_elements, a);
  if (t.state == kNone) return;
  a.count = uint64_t{env.batch} * a.x_row;
  launch_plain(c, KernelId::keep_conv_rows, a);
  a.count = env.batch;
  launch_plain(c, KernelId::advance_conv_ring, a);
}

rnnp_status check_pool(const Model &m, const BlobNode &node) {
  return rnnp_op_pool.check(m, node);
}
void run_pool(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const AttrPool &t = *env.model->attr<AttrPool>(node);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  launch_plain(static_cast<const TimeNode *>(object)->context, KernelId::pool_elements,
               PoolArgs{uint64_t{chunk_rows(env, y)} * window_positions(t.window) * t.channels, row_of(env.values[x], 0),
                        row_of(env.values[y], 0), env.model->values[x].row_elems, env.model->values[y].row_elems, t});
}

}  // namespace

const Op op_time_step = {OpKind::kTimeStep, nullptr, check_time_step, nullptr, build_time, nullptr, run_time_step};
const Op op_time_reduce = {OpKind::kTimeReduce, nullptr, check_time_reduce, nullptr, build_time, nullptr, run_time_reduce};
const Op op_time_reverse = {OpKind::kTimeReverse, nullptr, check_time_reverse, nullptr, build_time, nullptr, run_time_reverse};
const Op op_state_read = {OpKind::kStateRead, nullptr, check_state_read, nullptr, build_state_read, nullptr,
                          run_state_read,     nullptr, nullptr,          &kLoop};
const Op op_state_write = {OpKind::kStateWrite, nullptr, check_state_write, nullptr, build_time, nullptr, run_state_write};
const Op op_conv = {OpKind::kConv, nullptr, check_conv_node, nullptr, build_conv, nullptr, run_conv};
const Op op_pool = {OpKind::kPool, nullptr, check_pool, nullptr, build_time, nullptr, run_pool};

}  // namespace cuda
}  // namespace rnnp
