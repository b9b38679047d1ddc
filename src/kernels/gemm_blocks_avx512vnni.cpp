// gemm_blocks_avx512vnni.cpp -- the gemm rows of sparse panels for AVX-512 with VNNI.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512VNNI
#include "kernels/byte_dot_avx512vnni.h"
#include "kernels/kernel_rows.h"
#include "pack/panel_format.h"

namespace rnnp {
namespace {

struct Words : ByteDot {
  static constexpr int kMostRows = 4;

  static RNNPACK_INLINE int32_t four(const uint8_t *row, uint16_t at) { return four_bytes(row + size_t{at} * kBlockK); }
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
