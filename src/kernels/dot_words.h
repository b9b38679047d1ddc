// dot_words.h -- products of bf16 by multiply-adds of f32: a prepared row is floats, a pair of k of a panel becomes two vectors.
// Room: kernels; included after a vec_<isa>.h and round_lanes, which rounds a vector to bf16, before gemm_dot_body.h. Contract:
// kernels.h, GemmArgs, kGemmDot.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_DOT_WORDS_H_
#define RNNPACK_KERNELS_DOT_WORDS_H_

#include "kernels/kernels.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Dot {
  struct Weights {
    Vec::F even, odd;
  };
  static constexpr size_t kPairs = 1, kBlockWords = kDotBlock;

  template <bool kLast>
  static RNNPACK_INLINE Weights load(const uint8_t *at, size_t) {
    Weights w;
    Vec::load_bf16(at, &w.even, &w.odd);
    return w;
  }
  static RNNPACK_INLINE void add(const float *words, const Weights &w, Vec::F *even, Vec::F *odd) {
    *even = Vec::fma(Vec::broadcast(words), w.even, *even);
    *odd = Vec::fma(Vec::broadcast(words + 1), w.odd, *odd);
  }

  static RNNPACK_NOINLINE void round_row(const float *a, size_t k, float *to) {
    size_t i = 0;
    for (; i + Vec::kWidth <= k; i += Vec::kWidth) Vec::store(to + i, round_lanes(Vec::load(a + i)));
    if (i != k) {
      Vec::store(to + i, Vec::set1(0.0f));
      Vec::store_first(to + i, round_lanes(Vec::load_first(a + i, k - i)), k - i);
      i += Vec::kWidth;
    }
    for (; i % kDotBlock != 0; i += Vec::kWidth) Vec::store(to + i, Vec::set1(0.0f));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_DOT_WORDS_H_
