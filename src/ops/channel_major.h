// channel_major.h -- which values of a session are channel-major, [element][step], in a chunk of many steps: few channels fill a
// vector with steps where they cannot fill it with themselves. A value is where all nodes that make and read it take it so; bits
// are those of rows, [step][element]. Of one element both are the same. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_CHANNEL_MAJOR_H_
#define RNNPACK_OPS_CHANNEL_MAJOR_H_

#include "ops/op.h"

namespace rnnp {

constexpr uint32_t kFewestChannelMajorSteps = 8;  // of a chunk; measured, Zen 4 (bench/notebook/kernels.md)

// The nodes of a session: as they run rows; as they run where values are channel-major; the same where a node does the work of
// some that follow it, too.
struct ChannelMajorNodes {
  const NodeSlot *rows;
  NodeSlot *apart, *joined;
  uint8_t *marks;     // [values]: channel-major
  bool side_by_side;  // some nodes may run on a chunk while those before them run on the next
};

struct ChannelMajorOp {
  // `apart` has the nodes that the operator runs; the rest is filled in. False: there is nothing to be run so.
  bool (*plan)(const OpChoice &choice, const ChannelMajorNodes &nodes);
  // Steps that the object alone holds go into the node's state.
  void (*keep)(const Model &m, StateSlot *states, const BlobNode &node, void *object);
  // The state has changed: the object's steps are no longer those before the next one. `initial`: it is what a session begins with.
  void (*forget)(void *object, bool initial);
};

// Marks values, and says whether there is anything to be run so. Where an operator for it runs a node its result is channel-major,
// x as it may be; of other nodes all operands are alike.
bool mark_channel_major(const OpChoice &choice, const ChannelMajorNodes &nodes);

// Nodes are joined: behind a convolution of channel-major values a sum with another's or a value, an activation, one more sum, and
// a pointwise convolution of what came of the activation, with a sum behind it.
// What is left out is made by no node then, and nothing else reads it.
struct JoinedNodes {
  RNNPACK_BYTES_32(44);
  uint32_t count;       // of nodes, the convolution included
  uint32_t second;      // the other convolution, a node; kNone
  uint32_t add;         // a value; kNone
  uint32_t unary;       // a node; kNone
  uint32_t y;           // what comes of it, a value
  uint32_t other, sum;  // sum = y + other, values; kNone
  uint32_t then;        // the pointwise convolution, a node; kNone
  uint32_t then_add;    // a value
  uint32_t then_y;      // what comes of it
  uint32_t inner;       // 1: nothing else reads y

  uint32_t result() const { return then != kNone ? then_y : y; }
};
using JoinFn = bool (*)(const OpChoice &choice, const JoinedNodes &j, const NodeSlot *apart, NodeSlot *joined);
// `join` has all nodes as they run apart and the first of those that are joined. False: they stay apart.
void join_nodes(const OpChoice &choice, const ChannelMajorNodes &nodes, JoinFn join);
// Nodes that read a value, each as often as it does.
uint32_t count_readers(const Model &m, uint32_t value);

}  // namespace rnnp
#endif  // RNNPACK_OPS_CHANNEL_MAJOR_H_
