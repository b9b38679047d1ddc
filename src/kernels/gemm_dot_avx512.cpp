// gemm_dot_avx512.cpp -- the gemm row of bf16 products by multiply-adds of AVX-512: vec_avx512.h put under gemm_dot_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512
#define RNNPACK_SET avx512
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx512.h"

namespace rnnp::avx512 {
namespace {

// As rounded_to_bf16 (bf16_rows.h).
RNNPACK_INLINE Vec::F round_lanes(Vec::F x) {
  const auto of = [](uint32_t bits) { return _mm512_set1_epi32(static_cast<int>(bits)); };
  const __m512i bits = _mm512_castps_si512(x), high = of(0xffff0000u);
  const __m512i last = _mm512_and_si512(_mm512_maskz_srli_epi32(Vec::kAll, bits, 16), of(1));
  __m512i rounded = _mm512_and_si512(_mm512_add_epi32(_mm512_add_epi32(bits, of(0x7fff)), last), high);
  const __m512i nan = _mm512_and_si512(_mm512_or_si512(bits, of(0x00400000)), high);
  rounded = _mm512_mask_mov_epi32(rounded, Vec::is_nan(x), nan);
  const Vec::M small = _mm512_testn_epi32_mask(bits, of(0x7f800000));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(rounded, small, _mm512_and_si512(bits, of(0x80000000u))));
}

}  // namespace
}  // namespace rnnp::avx512

// The vector words come before the bodies that use them.
#include "kernels/dot_words.h"
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_avx512 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
