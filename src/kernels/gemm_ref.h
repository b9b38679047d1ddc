// gemm_ref.h -- where the operands of the plain gemm rows lie. Room: kernels. Contract: kernels.h, GemmArgs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_REF_H_
#define RNNPACK_KERNELS_GEMM_REF_H_

#include "base/bytes.h"
#include "kernels/kernels.h"

namespace rnnp {

inline const float *ref_row(const float *first, size_t m, size_t row_bytes) {
  return static_cast<const float *>(static_cast<const void *>(reinterpret_cast<const char *>(first) + m * row_bytes));
}

inline float ref_from_bits(uint32_t bits) {
  float value;
  copy_bytes(&value, &bits, sizeof value);
  return value;
}
inline float ref_from_bf16(uint16_t w) {
  return ref_from_bits(uint32_t{w} << 16);
}

// Column n of a tile whose gates are `row` columns.
inline float ref_start(const GemmArgs &args, size_t m, size_t tile, size_t n, size_t row) {
  if (args.start == nullptr) return 0.0f;
  return ref_row(args.start, m, args.start_row_bytes)[tile * (args.start_tile != 0 ? args.start_tile : row) + n];
}
inline float *ref_out(const GemmArgs &args, size_t m, size_t tile, size_t n, size_t row) {
  char *at = reinterpret_cast<char *>(args.out) + m * args.out_row_bytes;
  return static_cast<float *>(static_cast<void *>(at)) + tile * (args.out_tile != 0 ? args.out_tile : row) + n;
}
inline bool ref_is_written(const GemmArgs &args, size_t column) {
  return args.units == 0 || column < args.units;
}

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_REF_H_
