// op_args.h -- what the plain operators' kernels are given, by value: where rows lie, and the blob's own attributes.
// All pointers are the device's. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_OP_ARGS_H_
#define RNNPACK_CUDA_KERNELS_OP_ARGS_H_

#include "cuda/kernels/args.h"

namespace rnnp {
namespace cuda {

// Rows of a value: row r at data + r * row; of one that repeats for every step, at r % batch.
struct Operand {
  const float *data;
  uint64_t row;
  uint32_t repeats;  // batch, or 0
};

struct UnaryArgs {
  uint64_t count;
  const float *x;
  float *y;
  BlobActivation act;
};
struct BinaryArgs {
  uint64_t count;
  Operand a, b;
  float *y;
  uint32_t elems;
  AttrBinary attr;
};
struct WhereArgs {
  uint64_t count;
  Operand from[3];
  float *y;
  uint32_t elems;
  AttrWhere attr;
};
struct CopyArgs {
  uint64_t count;
  Operand x;
  float *y;
  uint64_t y_row;
  uint32_t elems;
  AttrCopy attr;
};
struct SoftmaxArgs {  // a warp for each line along the axis
  uint64_t count;
  const float *x;
  float *y;
  AttrSoftmax attr;
};
struct NormArgs {  // a warp for each group of a row
  uint64_t count;
  const float *x, *scale, *bias;
  float *y;
  AttrNorm attr;
};
struct ReduceArgs {
  uint64_t count;
  const float *x;
  float *y;
  uint64_t x_row;
  uint32_t elems;
  AttrReduce attr;
};
struct MatMulArgs {
  uint64_t count;
  Operand a, b;
  float *y;
  uint32_t elems;
  AttrMatMul attr;
};
struct GatherArgs {
  uint64_t count;
  const int32_t *x;
  const float *table;
  float *y;
  uint32_t *findings;
  AttrGather attr;
};

// What operators that look along time know of a chunk and its states.
struct ChunkArgs {
  uint64_t first_step;
  uint32_t steps, batch;
  const int32_t *lengths;
  const uint32_t *rows;
  float *state;  // nullptr: none
  uint64_t state_row;
  uint32_t last_chunk, anew;
};
struct TimeStepArgs {
  uint64_t count;
  const float *x;
  float *y;
  uint32_t elems, last;
  ChunkArgs chunk;
};
struct TimeReduceArgs {
  uint64_t count;
  const float *x;
  float *y;
  uint32_t elems, op;
  ChunkArgs chunk;
};
struct TimeReverseArgs {
  uint64_t count;
  const float *x;
  float *y;
  uint32_t elems;
  ChunkArgs chunk;
};
struct StateCopyArgs {
  uint64_t count;
  float *rows;             // of x or y; nullptr: zeros are written
  uint32_t elems, stride;  // stride: floats from row to row, 0 where all are one
  uint32_t writes;
  ChunkArgs chunk;
};

struct ConvArgs {
  uint64_t count;
  const float *x, *weights, *bias;  // weights [groups][out][depth], of bytes in their place byte_weights
  const int8_t *byte_weights;
  ByteScales bytes;  // [groups][out]; scales of int4 [groups][out][group of k]
  float *y;
  uint64_t x_row, y_row;
  uint32_t depth;
  ChunkArgs chunk;
  AttrConv attr;
};
struct PoolArgs {
  uint64_t count;
  const float *x;
  float *y;
  uint64_t x_row, y_row;
  AttrPool attr;
};

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_OP_ARGS_H_
