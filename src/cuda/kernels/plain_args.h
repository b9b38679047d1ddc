// plain_args.h -- what kernels of one thread per element are given, by value. All pointers are the device's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PLAIN_ARGS_H_
#define RNNPACK_CUDA_KERNELS_PLAIN_ARGS_H_

#include "cuda/device_layout.h"

namespace rnnp {
namespace cuda {

// Words of 4 bytes from row to row and from step to step.
struct RowsPlace {
  uint32_t *data;
  uint64_t step, row;
};

struct RowsCopyArgs {
  uint64_t count;  // threads that have work: first member of all plain kernels' arguments
  RowsPlace to, from;
  uint32_t batch, words;
};

struct LastStepArgs {
  uint64_t count;
  RowsPlace to, from;
  const int32_t *lengths;
  uint64_t first, steps, call_steps;
  uint32_t batch, words;
};

constexpr uint32_t kWordsAtOnce = 128;

// Numbers that come with the launch, so that a captured one has them.
struct SetWordsArgs {
  uint64_t count;
  uint32_t *to;
  uint32_t words[kWordsAtOnce];
};

struct InitialStateArgs {
  uint64_t count;
  const float *from;
  float *to;
  const uint32_t *rows;
  uint64_t from_row, to_row, first, stride;
  uint32_t elems;
};

struct StateRowsArgs {
  uint64_t count;
  const float *from;
  float *to;
  const uint32_t *from_rows, *to_rows;  // nullptr: in order
  uint64_t from_row, to_row;
  uint32_t elems;
};

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PLAIN_ARGS_H_
