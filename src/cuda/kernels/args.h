// args.h -- what the recurrent and product kernels are given, by value. All pointers are the device's; rows of floats unless bytes
// are named. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_ARGS_H_
#define RNNPACK_CUDA_KERNELS_ARGS_H_

#include "cuda/gather_layout.h"
#include "format/blob_attrs.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t gates_of(Cell cell) {
  return has_c(cell) ? 4 : cell == Cell::kRnn ? 1 : 3;
}

// Words of a session's control block. kStepped: blocks that have ended a step; 0 between launches.
enum Control : uint32_t { kEpoch = 0, kTimedOut = 1, kArrived = 2, kStepped = 3, kControlWords = 4 };
// What kernels found, since rnnp_cuda_wait looked: in mapped memory, or behind the control words of all exchanges.
enum Finding : uint32_t { kFoundTimeOut = 0, kFoundBadIndex = 1, kFindings = 2 };

constexpr uint32_t kClearFromEpoch = 0x80000000u;  // a launch that begins here or later clears all words first

struct CellRules {
  BlobActivation act[3];  // ONNX order: LSTM f g h, GRU f g, RNN f
  float clip;             // 0: none
  uint32_t input_forget;
};

// The exchanges of a session, each with words and a block of control words of its own: the second is that of a layer's other
// direction, where both go side by side.
constexpr uint32_t kExchanges = 2;

// What turns sums of bytes into numbers. Rows in the order of the matrix's image; nullptr where there are none.
struct ByteScales {
  const float *scale, *diagonal;  // scale: of int4 in the image, but of convolutions [channel][group]
  float factor;                   // what a byte of x or h is worth; 0: of each row its own
  uint32_t group_k;               // of int4: k of one scale; else 0
};

// A sparse matrix as the blob has it (docs/BLOB_FORMAT.md): entries of `strips` blocks, of each panel and gate from first[] on.
struct BlockMatrix {
  const uint8_t *panels;
  const uint32_t *first;
  const uint16_t *quads;
  uint32_t gates, strips;
};

// `steps` steps of a direction of a layer. Time index i of the call is steps[first + local]: preact and y begin with the first.
struct RecurrentArgs {
  const uint8_t *r, *w;    // images of the blocks, back to back; w: for a step that takes its own input
  const float *bias;       // [blocks][block rows]
  const float *r_bias;     // [hidden], of a linear GRU's candidate; of a kLstmNorm as bias, where R h begins
  const float *peephole;   // [3][hidden], i o f, or nullptr
  const float *preact;     // [steps][batch][blocks][block rows]; nullptr: from x
  const float *x;          // [batch][x_row]
  float *h, *h_next, *c;   // states: rows `state_row` floats apart. h_next: what a step kernel writes
  float *z, *rh;           // of a step of a GRU in two halves: [batch][state_row]
  float *y;                // [steps][batch][y_row], or nullptr
  const int32_t *lengths;  // [batch] or nullptr
  const uint32_t *rows;    // [batch]: which row's state is whose; nullptr: in order
  const float *mask;       // [steps][batch][x_row] or nullptr: 0 where the states stay; of step kernels
  uint64_t *words;         // [2 slots][batch][row words], and as many again for r h
  uint32_t *control, *findings;
  uint64_t x_row, y_row, state_row;
  uint64_t preact_row;  // floats of a row of preact
  uint32_t word_count;  // all of the session's
  uint32_t input, hidden, units, batch, first_step, steps, spin_limit;
  uint32_t columns;        // of the batch, that are computed at a time
  uint32_t places;         // for a resident kernel's partial sums: 2, or 1 where 2 have no room
  uint32_t reverse, half;  // half: 0 gates z and r, 1 the candidate
  uint32_t takes_back;     // of a step kernel: 1: in the end h is where it was, too
  ByteScales w_bytes, r_bytes;
  float candidate_factor;                   // the candidate's r_bytes.factor
  BlockMatrix blocks, candidate, w_blocks;  // of R, and of W: what of it there is
  uint32_t bundles[kMostGates];             // of a resident sparse R (gather_layout.h)
  CellRules rules;
};

// Both directions of a layer in one launch: the first half of its blocks has the one, the second the other.
struct BothArgs {
  RecurrentArgs direction[2];
};
// Which block of how many of a direction.
struct BlockOf {
  uint32_t block, blocks;
};

// The norms of a kLstmNorm as BlobCellNorm has them, unit by unit: vectors of gates are [hidden][4].
struct CellNorms {
  const float *x_scale, *h_scale, *bias, *c_scale, *c_bias;  // h_scale: nullptr where one norm is of both
  float x_epsilon, h_epsilon, c_epsilon;
  uint32_t by_gate, keeps_c;
};
// What is left of a step of such a layer when W x and R h are there: a block for each row.
constexpr uint32_t kNormSums = 8;  // of four gates of W x and of R h
constexpr uint32_t kNormCellShared = 2 * kNormSums * kWarps * sizeof(float);
struct NormCellArgs {
  uint64_t count;            // rows
  const float *of_x, *of_h;  // [count][hidden][4]
  float *h, *raw;            // [count][state_row], in the order of the call; raw: scratch, c before its norm
  float *c, *y;              // [..][state_row], [count][y_row] or nullptr
  const int32_t *lengths;    // as RecurrentArgs has them
  const uint32_t *rows;      // whose c is whose
  const float *mask;         // [count][x_row], or nullptr
  uint64_t state_row, y_row, x_row;
  uint32_t hidden, step;  // step: of the call
  CellNorms norms;
};

// out = act(bias + x W^T), rows of x any distance apart. A result's place is what its kernel, or that of the step, has for it.
struct ProductArgs {
  const uint8_t *image;
  const float *bias;  // [blocks][block rows]
  const float *x;
  float *out;
  uint64_t x_row, out_row;
  uint32_t count;  // rows of x
  uint32_t k, gates, units, blocks;
  uint32_t outputs;    // units of the whole matrix
  uint32_t columns;    // rows of x of a block
  uint32_t f32_units;  // of a block: results have the order of rows of f32's kernels; 0: unit by unit
  ByteScales bytes;
  BlockMatrix blocks_of_matrix;
  BlobActivation act;
};
constexpr uint64_t place_of_result(const ProductArgs &a, uint32_t unit, uint32_t gate) {
  if (a.f32_units == 0) return uint64_t{unit} * a.gates + gate;
  const Shape s = {a.gates, 0, a.f32_units};
  return uint64_t{unit / a.f32_units} * block_rows(Weights::kF32, s) + row_of_gate(Weights::kF32, s, unit % a.f32_units, gate);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_ARGS_H_
