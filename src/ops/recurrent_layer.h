// recurrent_layer.h -- a recurrent node of a session, as build_recurrent makes it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_LAYER_H_
#define RNNPACK_OPS_RECURRENT_LAYER_H_

#include "base/compiled_isa.h"
#include "ops/op.h"
#include "ops/recurrent_plan.h"

namespace rnnp {

// Kernels of microcontrollers take one step a call.
constexpr bool kMultiStep = kManyThreads || (kCompiledIsa & ~(RNNP_ISA_VFPV4 | RNNP_ISA_MVE | RNNP_ISA_RVF)) != 0;

struct Direction;
struct SplitStep;

// A step up to where the threads meet: all of it, or one of a kGru's two.
struct Half {
  RecurFn cells;
  const SplitStep *split;  // nullptr: the kernel multiplies by R
  Cell cell;
  bool candidate;  // of a kGru, the second
  bool carries;    // rows past their length
  void *factors;   // of this thread
};

// h * R by products of its own, before a recurrent kernel that does the cells alone: for formats that such kernels do not read.
// Both add to pre-activations where they lie; kGruLinear's second gives `candidate`.
struct SplitStep {
  RNNPACK_BYTES_32(196);
  void (*multiply)(const Half &half, const RecurArgs &a, uint32_t nr);
  // Which tiles of a direction one thread of its team owns.
  void (*share)(const Direction &direction, size_t tiles, uint32_t threads, uint32_t thread, size_t *begin, size_t *end);
  GemmFn gemm;
  GemmArgs r;            // all gates; of a GRU z and r
  GemmArgs candidate;    // of a GRU: r*h, or h, times gate h's
  bool alike;            // both quantise a row alike
  uint32_t back_panels;  // of each piece of a sweep backwards: [K, NR] of one gate, so that it holds for r as for candidate
};

struct Direction {
  RNNPACK_BYTES_32(264);
  RecurFn recur;          // the step; for kGru gates z and r
  RecurFn output;         // kGru: the candidate; else nullptr
  RecurArgs args;         // what changes from step to step is set there
  const float *output_r;  // kGru: the candidate's panels, the only argument of its kernel that differs
  SplitStep *split;       // nullptr: the kernels multiply by R
  GemmArgs gemm;
  uint32_t state_h, state_c;
  bool reverse;
  bool multi_step;  // one call of the kernel may take many steps of one row
};

// What a single step of all rows reads and writes besides the direction's arguments.
struct SingleStep {
  StateSlot *h;
  const ValueSlot *x, *y;
};

struct Recurrent {
  RNNPACK_BYTES_32(60);
  RecurrentCut plan;
  Cell cell;
  uint32_t hidden_size;
  uint8_t nr, direction_count;
  GemmFn gemm;
  Direction *direction;  // [direction_count]
  SingleStep single;
};

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_LAYER_H_
