// recurrent_layer.h -- a recurrent node of a session, as recurrent.cpp makes it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_LAYER_H_
#define RNNPACK_OPS_RECURRENT_LAYER_H_

#include "ops/op.h"
#include "ops/recurrent_plan.h"

namespace rnnp {

struct Direction {
  RecurFn recur;          // the step; for kGru gates z and r
  RecurFn output;         // kGru: the candidate; else nullptr
  RecurArgs args;         // what changes from step to step is set there
  const float *output_r;  // kGru: the candidate's panels, the only argument of its kernel that differs
  GemmArgs gemm;
  uint32_t state_h, state_c;
  bool reverse;
  bool together;  // one call of the kernel may take many steps of one row
};

// What a single step of all rows reads and writes besides the direction's arguments.
struct SingleStep {
  StateSlot *h;
  const ValueSlot *x, *y;
};

struct Recurrent {
  RecurrentPlan plan;
  Cell cell;
  uint32_t input_size, hidden_size, nr, direction_count;
  size_t state_row_bytes;
  GemmFn gemm;
  Direction *direction;  // [direction_count]
  SingleStep single;
};

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_LAYER_H_
