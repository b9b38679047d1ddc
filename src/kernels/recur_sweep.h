// recur_sweep.h -- how a layer's steps pass over rows and h-tiles, whatever the cell and the instruction set: blocks of rows,
// groups of tiles near enough to stay. Room: kernels. Touches its arguments, through the code of a cell. Contract: kernels.h,
// RecurArgs. Why so: it computes nothing, so one copy serves all; what holds registers is called through pointers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_SWEEP_H_
#define RNNPACK_KERNELS_RECUR_SWEEP_H_

#include "kernels/block.h"
#include "kernels/kernels.h"

namespace rnnp {

// What any block of an instruction set leaves in buffers, in floats: pre[m][tile][gates * NR] and nx[m][tile][NR].
constexpr size_t kSweepFloats = 384, kSweepSplitFloats = 128;

// What the cells of one shape and one instruction set have in common.
struct SweepShape {
  const BlockLayout *blocks;  // of tiles of all their gates
  // Puts the last gate's input part aside in nx (it may be in preact already) and starts its recurrent part from r_bias; nullptr:
  // the two are one chain.
  void (*split)(const RecurArgs *args, size_t row, size_t tile, uint32_t rows, uint32_t tiles, float *pre, float *nx);
  bool blocks_split;  // blocks can start the last gate from r_bias themselves
  bool has_w;         // the two halves of kGru have no W part
  uint8_t nr;
  uint8_t far_tiles;    // of one row that go together when panels come from beyond L1
  uint32_t pre_floats;  // of a tile of preact
  uint32_t pre_first;   // of those, before the first of these gates; not 0: they multiply rh
};

// The cells of rows x tiles of finished pre-activations, and one row's products and cells together.
constexpr uint32_t kMostFusedTiles = 6;
constexpr uint32_t kMostStepParts = 4;
using StepsFn = void (*)(const RecurArgs *args);
struct CellCode {
  const SweepShape *shape;
  void (*cells)(const RecurArgs *args, size_t row, size_t tile, uint32_t rows, uint32_t tiles, const float *pre, const float *nx);
  uint32_t fused_tiles;                                                            // 0: none are fused
  void (*fused[kMostFusedTiles])(const RecurArgs *args, size_t row, size_t tile);  // of 1.. tiles
  uint32_t step_units;
  StepsFn steps[kMostStepParts];  // all steps of a layer of one row, of 1.. times step_units units; nullptr: there is no such code
};

// One step of the tiles of `args`, or as many as args->steps.
void recur_sweep(const RecurArgs *args, const CellCode *code);

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_RECUR_SWEEP_H_
