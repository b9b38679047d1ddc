// rows.h -- kernels that move rows: a caller's strided tensors, last steps, states in and out, small lists of numbers. One thread
// per element, of as many as the grid has. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_ROWS_H_
#define RNNPACK_CUDA_KERNELS_ROWS_H_

#include "cuda/kernels/plain_args.h"
#include "cuda/simt.h"

namespace rnnp {
namespace cuda {

SIMT_FN uint64_t first_item() {
  return uint64_t{simt::block()} * kThreads + simt::thread();
}
SIMT_FN uint64_t item_step() {
  return uint64_t{simt::block_count()} * kThreads;
}

SIMT_KERNEL(256) copy_tensor_rows(const RowsCopyArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t row = i / a.words, word = i % a.words, step = row / a.batch, n = row % a.batch;
    a.to.data[step * a.to.step + n * a.to.row + word] = a.from.data[step * a.from.step + n * a.from.row + word];
  }
}

SIMT_KERNEL(256) copy_last_step(const LastStepArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.words, word = i % a.words;
    const int32_t given = a.lengths != nullptr ? a.lengths[n] : 0;
    uint64_t length = a.lengths == nullptr || given > static_cast<int64_t>(a.call_steps) ? a.call_steps : given < 0 ? 0 : given;
    uint32_t *to = a.to.data + n * a.to.row + word;
    if (length == 0 && a.first == 0) *to = 0;
    if (length > a.first && length <= a.first + a.steps)
      *to = a.from.data[(length - 1 - a.first) * a.from.step + n * a.from.row + word];
  }
}

SIMT_KERNEL(256) set_words(const SetWordsArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) a.to[i] = a.words[i];
}

SIMT_KERNEL(256) load_initial_state(const InitialStateArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.elems, elem = i % a.elems, row = a.rows != nullptr ? a.rows[n] : n;
    a.to[row * a.to_row + elem] = a.from[n * a.from_row + a.first + elem * a.stride];
  }
}

SIMT_KERNEL(256) copy_state_rows(const StateRowsArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.elems, elem = i % a.elems;
    const uint64_t from = a.from_rows != nullptr ? a.from_rows[n] : n, to = a.to_rows != nullptr ? a.to_rows[n] : n;
    a.to[to * a.to_row + elem] = a.from[from * a.from_row + elem];
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_ROWS_H_
