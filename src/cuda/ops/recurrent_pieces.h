// recurrent_pieces.h -- a recurrent layer's weights on a GPU, and its launches: piece by piece, the input's product for all steps
// of it, then one resident launch, or a launch for each step. Where x, y and the states lie is the caller's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_OPS_RECURRENT_PIECES_H_
#define RNNPACK_CUDA_OPS_RECURRENT_PIECES_H_

#include "cuda/kernels/args.h"
#include "cuda/ops/cuda_ops.h"

namespace rnnp {
namespace cuda {

// What of a matrix lies on the device.
struct DeviceMatrix {
  const uint8_t *image;  // nullptr of a sparse one
  BlockMatrix blocks;
  ByteScales scales;
};

struct RecurrentNode {
  Context *context;
  LayerPlan plan;
  uint32_t max_batch;

  struct Direction {
    DeviceMatrix w, r;
    BlockMatrix candidate;
    float candidate_factor;
    const float *bias, *r_bias, *peephole;
    CellNorms norms;  // of a kLstmNorm
  } direction[2];
};

// Plans the layer for runs of so many rows, the steps of a run coming `chunk_steps` at a time, and packs it. one_by_one: run_layer
// will be given its directions one at a time.
struct LayerAttributes {
  const AttrRecurrent &layer;
  const AttrNormRecurrent *norms;  // of a kLstmNorm
};
rnnp_status build_layer(Context *context, const LayerAttributes &a, uint32_t max_batch, uint32_t chunk_steps, bool one_by_one,
                        RecurrentNode *node);

// Floats that a run needs beside the states.
size_t layer_scratch_floats(const RecurrentNode &node, const AttrRecurrent &a);

// What all launches of a direction have in common; states, x, y, rows, lengths and steps are not there yet.
RecurrentArgs layer_args(const RecurrentNode &node, const AttrRecurrent &a, uint32_t direction);

// Enqueues all of args.steps, of plan.directions directions from `first` on. h and c are where they were; h_next is scratch.
void run_layer(const RecurrentNode &node, const AttrRecurrent &a, uint32_t first, const RecurrentArgs *args, float *scratch);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_OPS_RECURRENT_PIECES_H_
