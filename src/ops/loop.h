// loop.h -- loops inside a chunk: a state_read and the nodes behind it that run step by step (AttrLoop), so that a step reads what
// the step before wrote, while all other nodes run whole chunks. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_LOOP_H_
#define RNNPACK_OPS_LOOP_H_

#include "ops/op.h"

namespace rnnp {

// What a state_read keeps for its loop, behind what else it keeps.
struct LoopSlots {
  RNNPACK_BYTES_32(4);
  void **first;  // [operands and results of the loop's nodes, in their order] where the value lies at the chunk's first step
};

// The attributes say a loop that the blob can have: nodes that exist, each with a result at every step or a kStateWrite, none that
// needs other steps than its own and those that its states keep, and no other loop among them.
bool loop_fits(const Model &m, const BlobNode &node);

// Reserves LoopSlots::first for the loop that the node begins; nullptr where it begins none.
LoopSlots take_loop_slots(BuildEnv *env, const BlobNode &node);

// LoopOp::run.
void run_loop(const RunEnv &chunk, const BlobNode &node, const LoopSlots &slots, uint32_t thread, const LoopNodes &nodes);

}  // namespace rnnp
#endif  // RNNPACK_OPS_LOOP_H_
