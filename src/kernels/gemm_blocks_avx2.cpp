// gemm_blocks_avx2.cpp -- the gemm rows of sparse panels for AVX2.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#include "kernels/byte_dot_avx2.h"
#include "kernels/kernel_rows.h"
#include "pack/panel_format.h"

namespace rnnp {
namespace {

// A lane of 128 bits is four units; in it, four k of the row.
struct Quads {
  static constexpr int kMostRows = 2;

  static RNNPACK_INLINE __m128 quad(const float *row, uint16_t at) { return _mm_loadu_ps(row + size_t{at} * 4); }
  template <int kStrips>
  static RNNPACK_INLINE __m256 factor(const float *row, const uint16_t *at) {
    return _mm256_set_m128(quad(row, at[kStrips - 1]), quad(row, at[0]));
  }
  template <int kK>
  static RNNPACK_INLINE __m256 lane(__m256 factor) {
    return _mm256_permute_ps(factor, kK * 0x55);
  }
};

struct Words : ByteDot {
  static constexpr int kMostRows = 1;

  static RNNPACK_INLINE __m128i four(const uint8_t *row, uint16_t at) {
    return _mm_set1_epi32(four_bytes(row + size_t{at} * kBlockK));
  }
  template <int kStrips>
  static RNNPACK_INLINE I factor(const uint8_t *row, const uint16_t *at) {
    return _mm256_set_m128i(four(row, at[kStrips - 1]), four(row, at[0]));
  }
};

}  // namespace
}  // namespace rnnp

#include "kernels/byte_entries_body.h"
#include "kernels/float_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_ENTRIES_kF32 FloatEntries
#define RNNPACK_ENTRIES_kI8 ByteEntries
#define RNNPACK_IN_gemm_blocks_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_blocks_run<RNNPACK_ENTRIES_##dtype>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_blocks_avx2

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
