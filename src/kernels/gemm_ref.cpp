// gemm_ref.cpp -- the gemm rows of the formats whose sums are in f32, in plain loops: every CPU runs them, every other row is
// tested against them. Room: kernels. Contract: kernels.h, GemmArgs; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_ref.h"
#include "base/bytes.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// How a stored weight becomes a number; kKr consecutive k of a unit lie together.
template <DType kType>
struct Stored;
template <>
struct Stored<DType::kF32> {
  using Weight = float;
  static constexpr size_t kKr = 1;
  static float value(float w) { return w; }
};
template <>
struct Stored<DType::kBf16> {
  using Weight = uint16_t;
  static constexpr size_t kKr = 2;
  static float value(uint16_t w) { return ref_from_bf16(w); }
};
template <>
struct Stored<DType::kF16> {
  using Weight = uint16_t;
  static constexpr size_t kKr = 1;
  static float value(uint16_t w) {
    const uint32_t sign = uint32_t{w & 0x8000u} << 16, exponent = w >> 10 & 31u, mantissa = w & 0x3ffu;
    if (exponent == 31) return ref_from_bits(sign | 0x7f800000u | mantissa << 13);
    const float size =
        exponent != 0 ? ref_from_bits((exponent + 112) << 23 | mantissa << 13) : static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
};

// `row` columns of a tile.
template <DType kType>
void sum_rows(const GemmArgs *args, size_t row) {
  using Weights = Stored<kType>;
  constexpr size_t kKr = Weights::kKr;
  const size_t places = (args->w.k + kKr - 1) / kKr * kKr;
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a = ref_row(args->a, m, args->a_row_bytes);
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const auto *panel = static_cast<const typename Weights::Weight *>(args->w.panels) + tile * places * row;
      for (size_t n = 0; n < row && ref_is_written(*args, tile * row + n); ++n) {
        float sum = ref_start(*args, m, tile, n, row);
        for (size_t k = 0; k < args->w.k; ++k) sum += a[k] * Weights::value(panel[(k / kKr * row + n) * kKr + k % kKr]);
        *ref_out(*args, m, tile, n, row) = sum;
      }
    }
  }
}

// The same of f32 and one gate, rows lying in parts.
void sum_parts(const GemmArgs *args, size_t row) {
  for (uint32_t m = 0; m < args->rows; ++m) {
    for (size_t column = args->tile_begin * row; column < args->tile_end * row && ref_is_written(*args, column); ++column) {
      const size_t tile = column / row, n = column % row;
      const float *panel = static_cast<const float *>(args->w.panels) + tile * args->w.k * row + n;
      float sum = ref_start(*args, m, tile, n, row);
      uint32_t left = args->w.k;
      for (const GemmTap *tap = args->taps; left != 0; left -= tap->k, ++tap) {
        const float *a = ref_row(tap->a, m, tap->row_bytes);
        for (size_t k = 0; k < tap->k; ++k, panel += row) sum += a[k] * *panel;
      }
      *ref_out(*args, m, tile, n, row) = sum;
    }
  }
}

template <DType kType, uint32_t kGates, uint32_t kNr>
void ref_gemm(const GemmArgs *args) {
  if constexpr (kType == DType::kF32 && kGates == 1) {
    if (args->in_parts) return sum_parts(args, kNr);
  }
  sum_rows<kType>(args, (kType == DType::kF32 ? kGates : args->w.gates) * kNr);
}

}  // namespace

#define RNNPACK_IN_gemm_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_gemm<DType::dtype, gemm_gates(KernelFamily::family), nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
