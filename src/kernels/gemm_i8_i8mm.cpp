// gemm_i8_i8mm.cpp -- the gemm row of int8 panels for NEON with products of matrices of bytes: eight k of two rows by those of two
// units at once, for blocks of four rows; dot products for fewer. Room: kernels; compiled with this instruction set's flags, so it
// holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc. Why so: panels hold
// four k of a unit side by side, so two of their vectors are smlad for each product: fewer rows would not pay for that.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_I8MM
#define RNNPACK_SET i8mm
#include "kernels/byte_dot_neondot.h"
#include "kernels/kernel_rows.h"

namespace rnnp::i8mm {
namespace {

struct Int : ByteDot {
  static constexpr int kMostRows = 4, kSums = 8, kMostVectors = 4, kTurns = 1, kGroups = 4, kPairs = 1, kSharesPanel = 0;

  // Eight k of two rows.
  static RNNPACK_INLINE int8x16_t two_rows(const uint8_t *first, const uint8_t *second) {
    const int64x1_t low = vreinterpret_s64_u8(vld1_u8(first)), high = vreinterpret_s64_u8(vld1_u8(second));
    return vreinterpretq_s8_s64(vcombine_s64(low, high));
  }

  // Eight k of four rows; of four units the first four k are at `panel`, and the next are `next`. A pair of rows has two vectors of
  // sums for them, of two units each.
  template <int kVectors>
  static RNNPACK_INLINE void add_units(I (&sum)[2][2 * kVectors], const int8x16_t (&factors)[2], int v, const uint8_t *panel,
                                       int8x16_t next) {
    const int32x4_t k0 = vreinterpretq_s32_s8(bytes_at(panel)), k4 = vreinterpretq_s32_s8(next);
    const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(k0, k4)), high = vreinterpretq_s8_s32(vzip2q_s32(k0, k4));
    RNNPACK_UNROLL
    for (int p = 0; p < 2; ++p) {
      sum[p][2 * v] = vmmlaq_s32(sum[p][2 * v], factors[p], low);
      sum[p][2 * v + 1] = vmmlaq_s32(sum[p][2 * v + 1], factors[p], high);
    }
  }

  // The sums of four rows.
  template <int kVectors>
  static RNNPACK_INLINE void sum_pairs(I (&sums)[4][kVectors], const uint8_t *const (&a)[4], const uint8_t *panel, size_t panel_k,
                                       size_t groups) {
    I sum[2][2 * kVectors];
    RNNPACK_UNROLL
    for (int i = 0; i < 4 * kVectors; ++i) sum[i % 2][i / 2] = zero();
    size_t k = 0;
    RNNPACK_NO_UNROLL
    for (; k + 2 <= groups; k += 2, panel += 2 * panel_k) {
      const int8x16_t factors[2] = {two_rows(a[0] + k * 4, a[1] + k * 4), two_rows(a[2] + k * 4, a[3] + k * 4)};
      RNNPACK_UNROLL
      for (int v = 0; v < kVectors; ++v) add_units<kVectors>(sum, factors, v, panel + v * 16, bytes_at(panel + panel_k + v * 16));
    }
    if (k < groups) {
      const int8x16_t factors[2] = {two_rows(a[0] + k * 4, a[1] + k * 4), two_rows(a[2] + k * 4, a[3] + k * 4)};
      RNNPACK_UNROLL
      for (int v = 0; v < kVectors; ++v) add_units<kVectors>(sum, factors, v, panel + v * 16, vdupq_n_s8(0));
    }
    RNNPACK_UNROLL
    for (int i = 0; i < 2 * kVectors; ++i) {
      const int p = i / kVectors, v = i % kVectors;
      const int64x2_t low = vreinterpretq_s64_s32(sum[p][2 * v]), high = vreinterpretq_s64_s32(sum[p][2 * v + 1]);
      sums[2 * p][v] = vreinterpretq_s32_s64(vzip1q_s64(low, high));
      sums[2 * p + 1][v] = vreinterpretq_s32_s64(vzip2q_s64(low, high));
    }
  }
};

}  // namespace
}  // namespace rnnp::i8mm

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_i8mm , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) i8mm::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_I8MM
