// gemm_dot_avx2.cpp -- the gemm row of bf16 products by multiply-adds of AVX2: vec_avx2.h put under gemm_dot_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx2.h"

namespace rnnp::avx2 {
namespace {

// As rounded_to_bf16 (bf16_rows.h).
RNNPACK_INLINE Vec::F round_lanes(Vec::F x) {
  const auto of = [](uint32_t bits) { return _mm256_set1_epi32(static_cast<int>(bits)); };
  const __m256i bits = _mm256_castps_si256(x), high = of(0xffff0000u);
  const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), of(1));
  const __m256i rounded = _mm256_and_si256(_mm256_add_epi32(_mm256_add_epi32(bits, of(0x7fff)), last), high);
  const __m256i nan = _mm256_and_si256(_mm256_or_si256(bits, of(0x00400000)), high);
  const __m256i of_number = _mm256_blendv_epi8(rounded, nan, _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
  const __m256i small = _mm256_cmpeq_epi32(_mm256_and_si256(bits, of(0x7f800000)), _mm256_setzero_si256());
  return _mm256_castsi256_ps(_mm256_blendv_epi8(of_number, _mm256_and_si256(bits, of(0x80000000u)), small));
}

}  // namespace
}  // namespace rnnp::avx2

// The vector words come before the bodies that use them.
#include "kernels/dot_words.h"
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
