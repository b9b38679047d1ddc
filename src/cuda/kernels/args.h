// args.h -- what the recurrent and product kernels are given, by value. All pointers are the device's; rows of floats unless bytes
// are named. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_ARGS_H_
#define RNNPACK_CUDA_KERNELS_ARGS_H_

#include "cuda/device_layout.h"
#include "format/blob_attrs.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t gates_of(Cell cell) {
  return cell == Cell::kLstm ? 4 : cell == Cell::kRnn ? 1 : 3;
}

// Words of a session's control block.
enum Control : uint32_t { kEpoch = 0, kTimedOut = 1, kArrived = 2, kBadIndex = 3, kControlWords = 4 };

constexpr uint32_t kClearFromEpoch = 0x80000000u;  // a launch that begins here or later clears all words first

struct CellRules {
  BlobActivation act[3];  // ONNX order: LSTM f g h, GRU f g, RNN f
  float clip;             // 0: none
  uint32_t input_forget;
};

// `steps` steps of a direction of a layer. Time index i of the call is steps[first + local]: preact and y begin with the first.
struct RecurrentArgs {
  const uint8_t *r, *w;    // images of the blocks, back to back; w: for a step that takes its own input
  const float *bias;       // [blocks][block rows]
  const float *r_bias;     // [hidden], of a linear GRU's candidate
  const float *peephole;   // [3][hidden], i o f, or nullptr
  const float *preact;     // [steps][batch][blocks][block rows]; nullptr: from x
  const float *x;          // [batch][x_row]
  float *h, *h_next, *c;   // states: rows `state_row` floats apart. h_next: what a step kernel writes
  float *z, *rh;           // of a step of a GRU in two halves: [batch][state_row]
  float *y;                // [steps][batch][y_row], or nullptr
  const int32_t *lengths;  // [batch] or nullptr
  const uint32_t *rows;    // [batch]: which row's state is whose; nullptr: in order
  uint64_t *words;         // [2 slots][batch][row words], and as many again for r h
  uint32_t *control;
  uint64_t x_row, y_row, state_row;
  uint32_t word_count;  // all of the session's
  uint32_t input, hidden, units, batch, first_step, steps, spin_limit;
  uint32_t columns;        // of the batch, that are computed at a time
  uint32_t reverse, half;  // half: 0 gates z and r, 1 the candidate
  CellRules rules;
};

// out = act(bias + x W^T), rows of x any distance apart.
struct ProductArgs {
  const uint8_t *image;
  const float *bias;  // [blocks][block rows]
  const float *x;
  float *out;
  uint64_t x_row, out_row;
  uint32_t count;  // rows of x
  uint32_t k, gates, units, blocks;
  uint32_t out_limit;  // f16: results of a row; more are not stored. f32: the same
  uint32_t columns;    // rows of x of a block
  BlobActivation act;
};

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_ARGS_H_
