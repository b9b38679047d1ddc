// byte_rows.h -- rows of x or h as bytes, for the kernels whose weights are bytes or less: each with what one of its bytes is
// worth. Room: kernels; included after bytes_<isa>.h. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_ROWS_H_
#define RNNPACK_KERNELS_BYTE_ROWS_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"
#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

// A quantised row: its bytes, zeros up to a multiple of 64, and what one of them is worth. A zero is the byte `zero`.
struct ByteRows {
  uint8_t *first;
  size_t row_bytes, k_bytes;
  uint8_t *bytes(size_t m) const { return first + m * row_bytes; }
  float *scale(size_t m) const { return static_cast<float *>(static_cast<void *>(bytes(m) + k_bytes)); }
  // Of weights with groups of k: the sums of the row's bytes over each.
  int32_t *group_sums(size_t m) const { return static_cast<int32_t *>(static_cast<void *>(bytes(m) + k_bytes + 64)); }
};

RNNPACK_INLINE ByteRows byte_rows(const GemmArgs &args, bool in_groups) {
  return {static_cast<uint8_t *>(args.scratch), quantised_row_bytes(in_groups, args.w.k), align_up(args.w.k, 64)};
}

// What v is multiplied by to be a byte, and what the byte is worth: of a given step, or such that the row's largest finite size is
// 127.
struct ByteScale {
  float to_byte, step;
};
RNNPACK_INLINE ByteScale byte_scale(float lhs_scale, float largest) {
  constexpr float kLeast = 1e-30f;
  if (lhs_scale != 0.0f) return {1.0f / lhs_scale, lhs_scale};
  if (largest < kLeast) return {0.0f, 0.0f};
  return {127.0f / largest, largest / 127.0f};
}

RNNPACK_NOINLINE void quantise_row(const GemmArgs *args, size_t row, const ByteRows &to, size_t m, int zero) {
  const float *a = offset_bytes(args->a, row * args->a_row_bytes);
  const ByteScale scale = byte_scale(args->w.lhs_scale, args->w.lhs_scale != 0.0f ? 0.0f : Bytes::largest(a, args->w.k));
  Bytes::quantise(a, args->w.k, scale.to_byte, zero, to.bytes(m));
  *to.scale(m) = scale.step;
}

// Rows for products with sparse panels of int8.
template <int kZero>
struct ByteRowScratch {
  ByteRows rows;
  explicit ByteRowScratch(const GemmArgs &g) : rows(byte_rows(g, false)) {}
  const uint8_t *row(size_t m) const { return rows.bytes(m); }
  float scale(size_t m) const { return *rows.scale(m); }
  void take(const GemmArgs &g, size_t from, size_t m) const { quantise_row(&g, from, rows, m, kZero); }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_ROWS_H_
