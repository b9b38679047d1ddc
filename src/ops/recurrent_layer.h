// recurrent_layer.h -- a recurrent node of a session, as recurrent.cpp makes it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_LAYER_H_
#define RNNPACK_OPS_RECURRENT_LAYER_H_

#include "ops/op.h"
#include "ops/recurrent_plan.h"

namespace rnnp {

// h * R by products of its own, before a recurrent kernel that does the cells alone: for formats that such kernels do not read.
// Both add to pre-activations where they lie; kGruLinear's second gives `candidate`.
struct SplitStep {
  GemmFn gemm;
  GemmArgs r;          // all gates; of a GRU z and r
  GemmArgs candidate;  // of a GRU: r*h, or h, times gate h's
};

struct Direction {
  RecurFn recur;           // the step; for kGru gates z and r
  RecurFn output;          // kGru: the candidate; else nullptr
  RecurArgs args;          // what changes from step to step is set there
  const float *output_r;   // kGru: the candidate's panels, the only argument of its kernel that differs
  const SplitStep *split;  // nullptr: the kernels multiply by R
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
