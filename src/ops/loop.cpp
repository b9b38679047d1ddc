// loop.cpp -- Contract: loop.h. SPDX-License-Identifier: Apache-2.0
#include "ops/loop.h"

#include "format/loop_nodes.h"
#include "ops/conv_history.h"

namespace rnnp {
namespace {

// Calls `each` with every operand and result of the loop's nodes, kNone among them.
template <class Each>
void for_each_arg(const Model &m, const BlobNode &head, Each each) {
  const uint32_t count = loop_nodes(m, head);
  for (const BlobNode *node = &head; node != &head + count; ++node) {
    for (uint32_t i = 0; i < node->input_count; ++i) each(m.node_input(*node, i));
    for (uint32_t i = 0; i < node->output_count; ++i) each(m.node_output(*node, i));
  }
}

bool has_steps(const Model &m, const BlobNode &node) {
  for (uint32_t i = 0; i < node.output_count; ++i) {
    const uint32_t y = m.node_output(node, i);
    if (y != kNone && m.values[y].sequence != 0) return true;
  }
  return node.op == uint32_t(OpKind::kStateWrite);
}

// A step of it needs no later one, and none before it but what it keeps as states.
bool steps_stand_alone(const Model &m, const BlobNode &node) {
  if (node.op == uint32_t(OpKind::kTimeReverse)) return false;
  if (node.op == uint32_t(OpKind::kConv)) {
    const AttrConv *a = m.attr<AttrConv>(node);
    return a != nullptr && !reads_ahead(*a) && (a->lead <= 0 || a->state != kNone);
  }
  const AttrRecurrent *a = node.op == uint32_t(OpKind::kRecurrent) ? m.attr<AttrRecurrent>(node) : nullptr;
  return a == nullptr || (a->direction[0].reverse == 0 && (a->direction_count == 1 || a->direction[1].reverse == 0));
}

// The values that the loop's nodes name come to lie at the chunk's step `step`, in order from 0; chunk.steps: back at its first.
void place_loop(const RunEnv &chunk, const BlobNode &node, const LoopSlots &slots, uint32_t step) {
  const size_t rows = step == chunk.steps ? 0 : size_t{step} * chunk.batch;
  void **first = slots.first;
  for_each_arg(*chunk.model, node, [&](uint32_t value) {
    void *&at = *first++;
    if (value == kNone || chunk.model->values[value].sequence == 0) return;
    ValueSlot &slot = chunk.values[value];
    if (step == 0) at = slot.data;
    if (at != nullptr) slot.data = static_cast<uint8_t *>(at) + rows * slot.row_bytes;
  });
}

}  // namespace

bool loop_fits(const Model &m, const BlobNode &head) {
  const uint32_t count = loop_nodes(m, head), index = static_cast<uint32_t>(&head - m.nodes.rows);
  if (count > m.nodes.count - index) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const BlobNode &node = m.nodes[index + i];
    if (!has_steps(m, node) || !steps_stand_alone(m, node) || (i != 0 && loop_nodes(m, node) != 0)) return false;
  }
  return true;
}

LoopSlots take_loop_slots(BuildEnv *env, const BlobNode &node) {
  size_t args = 0;
  for_each_arg(*env->model, node, [&](uint32_t) { ++args; });
  return {args != 0 ? env->arena->take<void *>(args) : nullptr};
}

void run_loop(const RunEnv &chunk, const BlobNode &node, const LoopSlots &slots, uint32_t thread, const LoopNodes &nodes) {
  const uint32_t count = loop_nodes(*chunk.model, node);
  RunEnv env = chunk;
  env.steps = 1;
  for (uint32_t step = 0;; ++step) {
    if (thread == 0) place_loop(chunk, node, slots, step);
    barrier_wait(chunk.barriers, chunk.threads, thread);
    if (step == chunk.steps) return;
    env.first_step = chunk.first_step + step;
    env.first_chunk = chunk.first_chunk && step == 0;
    env.last_chunk = chunk.last_chunk && step + 1 == chunk.steps;
    for (uint32_t i = 0; i < count; ++i) nodes.run(nodes.what, env, nodes.first + i);
  }
}

}  // namespace rnnp
