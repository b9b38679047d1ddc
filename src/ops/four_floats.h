// four_floats.h -- four floats in a register; RNNPACK_FOUR_FLOATS: 1 where every CPU of the target has such. Room: ops.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_FOUR_FLOATS_H_
#define RNNPACK_OPS_FOUR_FLOATS_H_

#include "base/bytes.h"

#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__wasm_simd128__)
#define RNNPACK_FOUR_FLOATS 1

namespace rnnp {

using FourFloats = float __attribute__((vector_size(16)));

// Of the eight of a and b, those at i, j, k and l.
#if defined(__clang__) || __GNUC__ >= 12
#define RNNPACK_FOUR_OF(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define RNNPACK_FOUR_OF(a, b, i, j, k, l) __builtin_shuffle(a, b, (int __attribute__((vector_size(16)))){i, j, k, l})
#endif

inline FourFloats load_four(const float *from) {
  FourFloats four;
  copy_bytes(&four, from, sizeof four);
  return four;
}
inline void store_four(float *to, const FourFloats &four) {
  copy_bytes(to, &four, sizeof four);
}

}  // namespace rnnp

#else
#define RNNPACK_FOUR_FLOATS 0
#endif

#endif  // RNNPACK_OPS_FOUR_FLOATS_H_
