// gemm_dot_avx512bf16.cpp -- the gemm row of bf16 products by VDPBF16PS, under gemm_dot_body.h. The instruction adds the product of
// the high halves, then that of the low ones, each rounded once: with two k of the same parity in a pair it is two steps of one
// accumulator. Panels are brought into such pairs in registers, for all rows of a block at once. Room: kernels; compiled with this
// instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in
// kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512BF16
#define RNNPACK_SET avx512bf16
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx512.h"

namespace rnnp::avx512bf16 {
namespace {

// A prepared row has for each four k the pairs (k + 2, k) and (k + 3, k + 1), low half first.
struct Dot {
  struct Weights {
    __m512i even, odd;
  };
  static constexpr size_t kPairs = 2, kBlockWords = kDotBlock / 2;

  // Left alone, compilers read memory for each use.
  static RNNPACK_INLINE __m512i load_once(const uint8_t *at) {
    __m512i loaded = _mm512_loadu_si512(at);
    __asm__("" : "+v"(loaded));
    return loaded;
  }

  template <bool kLast>
  static RNNPACK_INLINE Weights load(const uint8_t *at, size_t panel_k) {
    constexpr __mmask32 kHigh = 0xaaaaaaaau;
    const __m512i first = load_once(at), second = kLast ? _mm512_setzero_si512() : load_once(at + panel_k);
    return {_mm512_mask_blend_epi16(kHigh, second, _mm512_maskz_slli_epi32(Vec::kAll, first, 16)),
            _mm512_mask_blend_epi16(kHigh, _mm512_maskz_srli_epi32(Vec::kAll, second, 16), first)};
  }
  // Written out, so that the pair is broadcast from memory each time: held in registers for several columns, shuffles and products
  // fall onto the same ports of Zen 4, and a block takes 1.15 times as long.
  static RNNPACK_INLINE Vec::F add_pairs(const float *word, __m512i w, Vec::F sum) {
    __asm__("vdpbf16ps %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*word), "v"(w));
    return sum;
  }
  static RNNPACK_INLINE void add(const float *words, const Weights &w, Vec::F *even, Vec::F *odd) {
    *even = add_pairs(words, w.even, *even);
    *odd = add_pairs(words + 1, w.odd, *odd);
  }

  static RNNPACK_INLINE Vec::F load_some(const float *p, size_t left) {
    return left >= 16 ? Vec::load(p) : left != 0 ? Vec::load_first(p, left) : Vec::set1(0.0f);
  }
  static RNNPACK_NOINLINE void round_row(const float *a, size_t k, float *to) {
    constexpr int kOrder = _MM_SHUFFLE(1, 3, 0, 2);
    for (size_t i = 0; i < k; i += kDotBlock, to += kBlockWords) {
      const Vec::F low = load_some(a + i, k - i), high = load_some(a + i + 16, k - i > 16 ? k - i - 16 : 0);
      const __m512i all = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
      _mm512_storeu_si512(to, _mm512_shufflehi_epi16(_mm512_shufflelo_epi16(all, kOrder), kOrder));
    }
  }
};

}  // namespace
}  // namespace rnnp::avx512bf16

// The words come before the body that uses them.
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_avx512bf16 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512bf16::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
