// recurrent_layer.h -- a recurrent node of a session, as build_recurrent makes it: of each direction a step as a list of phases.
// One interpreter (recurrent_phases.h) takes them for single steps, sequences, ragged rows, teams of threads and both
// directions; what a layer's kernels are, and in which order they run, is decided here, when the session is made.
//
//   fused             cells
//   fused kGru        cells (z, r*h) | cells
//   unfused           product, cells
//   unfused kGru      product, cells (z, r*h) | product, cells
//   kGruLinear        product, product, cells: the products in the order in which the sweep meets what is in cache
//   kLstmNorm         product | cells (gates, c) | cells (h)
//
// The threads meet at | and at the end of a step.
// Before the steps of a chunk comes the product with the input, where a layer's cells do not take it themselves.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_LAYER_H_
#define RNNPACK_OPS_RECURRENT_LAYER_H_

#include "base/compiled_isa.h"
#include "ops/op.h"
#include "ops/recurrent_plan.h"

namespace rnnp {

// Kernels of microcontrollers take one step a call.
constexpr bool kMultiStep = kManyThreads || (kCompiledIsa & ~(RNNP_ISA_VFPV4 | RNNP_ISA_MVE | RNNP_ISA_RVF)) != 0;

// Products are for formats that recurrent kernels do not read: h, or r*h, times a matrix of R, onto pre-activations.
enum class PhaseKind : uint8_t {
  kCells,      // what is left of the step, or of a kGru's first half
  kGates,      // product with all of R, or with what a kGru, or a kGruLinear, has for z and r
  kCandidate,  // product with what those have for gate h; a kGruLinear's goes to z
};

struct Phase {
  RNNPACK_BYTES_32(12);
  RecurFn cells;  // of cells, and the panels of R that they multiply by
  const float *r;
  PhaseKind kind;
  bool prepared;  // the product before it has quantised the same rows alike
  bool meets;     // the threads wait for each other behind it
  bool last;      // of the step: rows past their length are carried
};

// The products of an unfused layer. A program whose layers are fused links none of what is behind the pointer.
struct Products {
  RNNPACK_BYTES_32(196);
  void (*multiply)(const Phase &phase, const RecurArgs &a, Products *products);  // of rows and tiles of `a`
  GemmFn gemm;
  uint32_t piece_tiles[2];    // that a sweep downwards takes at a time, of gates, of candidate
  uint16_t candidate_column;  // of a kGru: floats of pre-activations before gate h's
  bool linear;                // kGruLinear
  GemmArgs gates, candidate;
};

struct Direction {
  RNNPACK_BYTES_32(256);
  Phase *phases;       // of a step, up to the last
  Products *products;  // nullptr: all phases are cells
  RecurArgs args;      // what changes from step to step is set there
  GemmArgs input;
  uint32_t state_h, state_c;
  bool reverse;
  bool multi_step;    // one call of the kernel may take many steps of one row
  uint8_t downwards;  // where the phases of a step that sweeps the tiles downwards begin; 0: they are the same
};

// What a single step of all rows reads and writes besides the direction's arguments.
struct SingleStep {
  StateSlot *h;
  const ValueSlot *x, *y;
};

struct Recurrent {
  RNNPACK_BYTES_32(56);
  RecurrentCut plan;
  Cell cell;
  uint8_t nr, direction_count;
  bool masked;           // AttrRecurrent::flags
  GemmFn gemm;           // with the input; nullptr: cells take it themselves
  Direction *direction;  // [direction_count]
  SingleStep single;
};

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_LAYER_H_
