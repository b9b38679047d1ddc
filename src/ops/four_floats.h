// four_floats.h -- floats side by side as one value, which may lie at any float; four of them in a register. RNNPACK_FOUR_FLOATS: 1
// where every CPU of the target has such. Room: ops. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_FOUR_FLOATS_H_
#define RNNPACK_OPS_FOUR_FLOATS_H_

#include <stddef.h>

#include "base/bytes.h"
#include "kernels/inlining.h"

namespace rnnp {

template <class T>
static RNNPACK_INLINE T load_as(const float *from) {
  T v;
  copy_bytes(&v, from, sizeof v);
  return v;
}
template <class T>
static RNNPACK_INLINE void store_as(float *to, T v) {
  copy_bytes(to, &v, sizeof v);
}

}  // namespace rnnp

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
  return load_as<FourFloats>(from);
}
inline void store_four(float *to, const FourFloats &four) {
  store_as(to, four);
}

// Four rows of y: the columns of four rows, where those begin.
inline void transpose_four(const float *const (&x)[4], float *y, ptrdiff_t y_row) {
  const FourFloats a = load_four(x[0]), b = load_four(x[1]), c = load_four(x[2]), d = load_four(x[3]);
  const FourFloats ab = RNNPACK_FOUR_OF(a, b, 0, 4, 1, 5), cd = RNNPACK_FOUR_OF(c, d, 0, 4, 1, 5);
  const FourFloats ab2 = RNNPACK_FOUR_OF(a, b, 2, 6, 3, 7), cd2 = RNNPACK_FOUR_OF(c, d, 2, 6, 3, 7);
  const FourFloats rows[4] = {RNNPACK_FOUR_OF(ab, cd, 0, 1, 4, 5), RNNPACK_FOUR_OF(ab, cd, 2, 3, 6, 7),
                              RNNPACK_FOUR_OF(ab2, cd2, 0, 1, 4, 5), RNNPACK_FOUR_OF(ab2, cd2, 2, 3, 6, 7)};
  for (const FourFloats &row : rows) {
    store_four(y, row);
    y += y_row;
  }
}

}  // namespace rnnp

#else
#define RNNPACK_FOUR_FLOATS 0
#endif

#endif  // RNNPACK_OPS_FOUR_FLOATS_H_
