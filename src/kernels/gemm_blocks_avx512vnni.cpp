// gemm_blocks_avx512vnni.cpp -- the gemm rows of sparse panels for AVX-512 with VNNI.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512VNNI
#include "kernels/bytes_avx512.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// Bytes of rows are kept 127 too large, from 0 to 254: the instruction wants them without a sign.
struct Words : Bytes {
  static constexpr int kZero = 127, kMostRows = 4;

  static RNNPACK_INLINE I zero() { return _mm512_setzero_si512(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static RNNPACK_INLINE int32_t four(const uint8_t *row, uint16_t at) {
    int32_t word;
    __builtin_memcpy(&word, row + size_t{at} * 4, sizeof word);
    return word;
  }
  template <int kStrips>
  static RNNPACK_INLINE I factor(const uint8_t *row, const uint16_t *at) {
    if constexpr (kStrips == 1) {
      return _mm512_set1_epi32(four(row, at[0]));
    } else if constexpr (kStrips == 2) {
      return _mm512_mask_set1_epi32(_mm512_set1_epi32(four(row, at[0])), 0xff00, four(row, at[1]));
    } else {
      const __m128i words = _mm_set_epi32(four(row, at[3]), four(row, at[2]), four(row, at[1]), four(row, at[0]));
      const I places = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
      return _mm512_maskz_permutexvar_epi32(kAll, places, _mm512_castsi128_si512(words));
    }
  }
  // Spelt out: GCC 12 copies the sum before each intrinsic.
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(factor), "m"(*static_cast<const I *>(static_cast<const void *>(weights))));
  }
  static RNNPACK_INLINE __m512 to_float(I sum, const int32_t *unit_sums) {
    const I units = _mm512_loadu_si512(unit_sums);
    const I excess = _mm512_sub_epi32(_mm512_maskz_slli_epi32(kAll, units, 7), units);
    return _mm512_maskz_cvtepi32_ps(kAll, _mm512_sub_epi32(sum, excess));
  }
};

}  // namespace
}  // namespace rnnp

#include "kernels/byte_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_blocks_avx512vnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_blocks_run<ByteEntries>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_blocks_avx512vnni

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512VNNI
