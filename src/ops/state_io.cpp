// state_io.cpp -- a tensor that the library keeps from step to step: read at the step's start, written at its end. A run may bring
// what it starts from.
// Touches its output, or its state; a row that has ended keeps its state. They run step by step, in a loop (loop.h) or in a model
// that runs one step per chunk, so that a step reads what the step before wrote: checked with the other rules of the order of nodes
// (format/dataflow.h). Threads own rows. SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "format/loop_nodes.h"
#include "ops/loop.h"

namespace rnnp {
namespace {

struct StateRead {
  RNNPACK_BYTES_32(8);
  const AttrState *attr;
  LoopSlots loop;
};

// The state that the node names has its value's elements and one buffer.
bool state_node_fits(const Model &m, const AttrState *a, uint32_t value) {
  if (a == nullptr || a->state >= m.states.count) return false;
  const uint32_t elems = m.states[a->state].elems;
  return is_persistent_state(m, a->state, elems, 0) && is_f32_value(m, value, elems) && m.values[value].sequence;
}

// What reset_state() makes of a row.
void begin_anew(const Model &m, uint32_t state, size_t row, float *kept) {
  const BlobState &s = m.states[state];
  if (s.init == kNone) return zero_bytes(kept, s.elems * sizeof(float));
  copy_bytes(kept, m.weights(s.init) + (s.per_row ? row * s.elems : 0), s.elems * sizeof(float));
}

rnnp_status check_read(const Model &m, const BlobNode &node) {
  const AttrState *a = m.attr<AttrState>(node);
  const uint32_t start = m.node_input(node, 0);
  if (!state_node_fits(m, a, m.node_output(node, 0)) || !loop_fits(m, node)) return RNNP_E_BLOB_CORRUPT;
  const bool good = start == kNone || (is_f32_value(m, start, m.states[a->state].elems) && !m.values[start].sequence &&
                                       ValueKind(m.values[start].kind) == ValueKind::kInput);
  return good ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status check_write(const Model &m, const BlobNode &node) {
  const uint32_t lengths = m.node_input(node, 1);
  const bool good = state_node_fits(m, m.attr<AttrState>(node), m.node_input(node, 0));
  return good && (lengths == kNone || is_lengths_input(m, lengths)) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build_read(BuildEnv *env, const BlobNode &node, void **object) {
  StateRead *read = env->arena->take<StateRead>(1);
  *object = read;
  const LoopSlots loop = take_loop_slots(env, node);
  if (read != nullptr) *read = {env->model->attr<AttrState>(node), loop};
  return RNNP_OK;
}

void run_loop_of_read(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread, const LoopNodes &nodes) {
  run_loop(env, node, static_cast<const StateRead *>(object)->loop, thread, nodes);
}

constexpr LoopOp kLoop = {loop_nodes, run_loop_of_read};

void run_read(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const uint32_t state = static_cast<const StateRead *>(object)->attr->state;
  const uint32_t start = env.model->node_input(node, 0);
  const ValueSlot &y = env.values[env.model->node_output(node, 0)];
  const bool starts = env.first_chunk && start != kNone && env.values[start].data != nullptr;
  const bool anew = env.first_chunk && begins_anew(*env.model, node);
  size_t begin, end;
  split_range(env.batch, env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    float *kept = kept_row(env, state, row);
    if (starts) copy_bytes(kept, row_of(env.values[start], row), y.row_bytes);
    if (anew) begin_anew(*env.model, state, row, kept);
    copy_bytes(row_of(y, row), kept, y.row_bytes);
  }
}

void run_write(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const uint32_t state = (*static_cast<const AttrState *const *>(object))->state;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  const int32_t *lengths = row_lengths(env, env.model->node_input(node, 1));
  size_t begin, end;
  split_range(env.batch, env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    if (lengths != nullptr && env.first_step >= static_cast<size_t>(lengths[row])) continue;
    copy_bytes(kept_row(env, state, row), row_of(x, row), x.row_bytes);
  }
}

}  // namespace

RNNPACK_OP(state_read, {OpKind::kStateRead, nullptr, check_read, nullptr, build_read, nullptr, run_read, nullptr, nullptr, &kLoop});
RNNPACK_OP(state_write, {OpKind::kStateWrite, nullptr, check_write, nullptr, keep_attr<AttrState>, nullptr, run_write});

}  // namespace rnnp
