// dot_instruction_test.cpp -- what the instructions of bf16 do, on which kernels rest. VDPBF16PS and VCVTNE2PS2BF16, for every
// operand: two multiply-adds, the high half's first, with denormals as zeros whatever MXCSR says, and the rounding of bf16_rows.h.
// BFMLALB, BFMLALT and BFCVTN, for one operand in many: a multiply-add as FPCR has it, and that rounding. Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "platform/isa_of_cpu.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)
#include <immintrin.h>

#include "base/fpenv.h"

namespace rnnp {
namespace {

#define DOT_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

DOT_TARGET inline __m512i lanes() {
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
DOT_TARGET inline __m512i of(uint32_t bits) {
  return _mm512_set1_epi32(static_cast<int>(bits));
}
DOT_TARGET inline __m512 high_half(__m512i pair) {
  return _mm512_castsi512_ps(_mm512_and_si512(pair, of(0xffff0000u)));
}
DOT_TARGET inline __m512 low_half(__m512i pair) {
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, pair, 16));
}
// Those that are not equal bit for bit; all NaNs are alike.
DOT_TARGET inline int count_apart(__m512 a, __m512 b) {
  const __mmask16 numbers = static_cast<__mmask16>(_mm512_cmp_ps_mask(a, a, _CMP_ORD_Q) | _mm512_cmp_ps_mask(b, b, _CMP_ORD_Q));
  return __builtin_popcount(_mm512_mask_cmpneq_epi32_mask(numbers, _mm512_castps_si512(a), _mm512_castps_si512(b)));
}

// The low halves are all pairs of bf16, and so are the high ones, in another order; sums are drawn.
DOT_TARGET uint64_t count_other_products() {
  uint64_t apart = 0;
  uint32_t sum = 12345;
  for (uint32_t a = 0; a < 1u << 16; ++a) {
    const __m512i left = of(a | (a * 40503u & 0xffffu) << 16);
    for (uint32_t b = 0; b < 1u << 16; b += 16) {
      sum = sum * 1664525u + 1013904223u;
      const __m512i low = _mm512_add_epi32(of(b), lanes());
      const __m512i right = _mm512_or_si512(low, _mm512_maskz_slli_epi32(0xffff, _mm512_xor_si512(low, of(a ^ 0x3f80u)), 16));
      const __m512 from = _mm512_castsi512_ps(_mm512_xor_si512(of(sum), _mm512_maskz_slli_epi32(0xffff, lanes(), 24)));
      const __m512 got = _mm512_dpbf16_ps(from, reinterpret_cast<__m512bh>(left), reinterpret_cast<__m512bh>(right));
      const __m512 high = _mm512_fmadd_ps(high_half(left), high_half(right), from);
      apart += static_cast<uint64_t>(count_apart(got, _mm512_fmadd_ps(low_half(left), low_half(right), high)));
    }
  }
  return apart;
}

DOT_TARGET inline __m512i rounded(__m512i bits) {
  const __m512i last = _mm512_and_si512(_mm512_maskz_srli_epi32(0xffff, bits, 16), of(1));
  const __m512i number = _mm512_add_epi32(_mm512_add_epi32(bits, of(0x7fff)), last);
  const __mmask16 is_nan = _mm512_cmpgt_epu32_mask(_mm512_and_si512(bits, of(0x7fffffff)), of(0x7f800000));
  const __m512i all = _mm512_mask_mov_epi32(number, is_nan, _mm512_or_si512(bits, of(0x00400000)));
  const __mmask16 is_small = _mm512_testn_epi32_mask(bits, of(0x7f800000));
  return _mm512_mask_mov_epi32(all, is_small, _mm512_and_si512(bits, of(0x80000000u)));
}

// Of every float, 32 at a time: the first 16 become the low half of the result.
DOT_TARGET uint64_t count_other_roundings() {
  uint64_t apart = 0;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += 32) {
    const __m512i low = _mm512_add_epi32(of(static_cast<uint32_t>(first)), lanes()), high = _mm512_add_epi32(low, of(16));
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_castsi512_ps(high), _mm512_castsi512_ps(low));
    const __m512i got = reinterpret_cast<__m512i>(both);
    const __m256i want_low = _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_maskz_srli_epi32(0xffff, rounded(low), 16));
    const __m256i want_high = _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_maskz_srli_epi32(0xffff, rounded(high), 16));
    const __m512i want = _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(want_low), want_high, 1);
    apart += static_cast<uint64_t>(__builtin_popcount(_mm512_cmpneq_epi16_mask(got, want)));
  }
  return apart;
}

bool has_dots() {
  return (isa_of_cpu() & RNNP_ISA_AVX512_BF16) != 0;
}

TEST(DotInstruction, IsTwoMultiplyAddsForEveryPair) {
  if (!has_dots()) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const FlushDenormals flush;
  EXPECT_EQ(0u, count_other_products());
}

TEST(DotInstruction, RoundsEveryFloatAsTheReferenceDoes) {
  if (!has_dots()) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  EXPECT_EQ(0u, count_other_roundings());
}

}  // namespace
}  // namespace rnnp

#elif defined(__aarch64__) && (!defined(__clang__) || __clang_major__ >= 16)
#include <arm_neon.h>

#include "base/fpenv.h"
#include "kernels/bf16_rows.h"

namespace rnnp {
namespace {

#define DOT_TARGET __attribute__((target("arch=armv8.2-a+bf16")))

// Those that are not equal bit for bit; all NaNs are alike.
int count_apart(float32x4_t a, float32x4_t b) {
  const uint32x4_t nans = vbicq_u32(vmvnq_u32(vceqq_f32(a, a)), vceqq_f32(b, b));
  const uint32x4_t same = vorrq_u32(vceqq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)), nans);
  return static_cast<int>(vaddvq_u32(vshrq_n_u32(vmvnq_u32(same), 31)));
}

// Factors of all kinds by all others; sums are drawn, every fourth near the least numbers.
DOT_TARGET int count_other_products() {
  int apart = 0;
  uint32_t draw = 12345;
  const auto next = [&] { return draw = draw * 1664525u + 1013904223u; };
  for (uint32_t a = 0; a < 1u << 16; a += 5) {
    const bfloat16x4_t factor = vreinterpret_bf16_u16(vdup_n_u16(static_cast<uint16_t>(a)));
    const float32x4_t wide = vreinterpretq_f32_u32(vdupq_n_u32(a << 16));
    for (int i = 0; i < 64; ++i) {
      uint32x4_t pairs = vdupq_n_u32(0), from = pairs;
      pairs = vsetq_lane_u32(next(), vsetq_lane_u32(next(), vsetq_lane_u32(next(), vdupq_n_u32(next()), 2), 1), 0);
      from = vsetq_lane_u32(next() & 0x80ffffffu, vsetq_lane_u32(next(), vsetq_lane_u32(next(), vdupq_n_u32(next()), 2), 1), 0);
      const float32x4_t sum = vreinterpretq_f32_u32(from);
      const bfloat16x8_t weights = vreinterpretq_bf16_u32(pairs);
      const float32x4_t even = vreinterpretq_f32_u32(vshlq_n_u32(pairs, 16));
      const float32x4_t odd = vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff0000u)));
      apart += count_apart(vbfmlalbq_lane_f32(sum, weights, factor, 0), vfmaq_f32(sum, even, wide));
      apart += count_apart(vbfmlaltq_lane_f32(sum, weights, factor, 1), vfmaq_f32(sum, odd, wide));
    }
  }
  return apart;
}

DOT_TARGET int count_other_roundings() {
  int apart = 0;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021) {
    const float32x4_t x = vreinterpretq_f32_u32(vdupq_n_u32(static_cast<uint32_t>(bits)));
    const uint16x4_t got = vreinterpret_u16_bf16(vcvt_bf16_f32(x));
    const float32x4_t want = vdupq_n_f32(rounded_to_bf16(vgetq_lane_f32(x, 0)));
    apart += vget_lane_u16(got, 0) != vgetq_lane_u32(vreinterpretq_u32_f32(want), 0) >> 16;
  }
  return apart;
}

TEST(DotInstruction, IsAMultiplyAddOfWidenedPairs) {
  if ((isa_of_cpu() & RNNP_ISA_NEON_BF16) == 0) GTEST_SKIP() << "this CPU has no BFMLALB";
  EXPECT_EQ(0, count_other_products()) << "denormals kept";
  const FlushDenormals flush;
  EXPECT_EQ(0, count_other_products()) << "denormals flushed";
}

TEST(DotInstruction, RoundsFloatsAsTheReferenceDoes) {
  if ((isa_of_cpu() & RNNP_ISA_NEON_BF16) == 0) GTEST_SKIP() << "this CPU has no BFCVTN";
  const FlushDenormals flush;
  EXPECT_EQ(0, count_other_roundings());
}

}  // namespace
}  // namespace rnnp

#endif
