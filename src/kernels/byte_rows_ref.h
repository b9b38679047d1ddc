// byte_rows_ref.h -- rows of x or h as bytes, in plain loops. Room: kernels. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_ROWS_REF_H_
#define RNNPACK_KERNELS_BYTE_ROWS_REF_H_

#include "kernels/kernels.h"

namespace rnnp {

inline float ref_largest(const float *a, size_t k) {
  float most = 0.0f;
  for (size_t i = 0; i < k; ++i) {
    const float size = a[i] < 0.0f ? -a[i] : a[i];
    if (size > most && size < __builtin_inff()) most = size;
  }
  return most;
}

// The nearest integer of -127 to 127, halves to the even one; of NaN 0.
inline int8_t ref_byte(float v) {
  if (!(v == v)) return 0;
  const float cut = v < -127.0f ? -127.0f : v > 127.0f ? 127.0f : v;
  const int whole = static_cast<int>(cut);
  const float rest = cut - static_cast<float>(whole), half = rest < 0.0f ? -rest : rest;
  const bool away = half > 0.5f || (half == 0.5f && whole % 2 != 0);
  return static_cast<int8_t>(away ? whole + (rest < 0.0f ? -1 : 1) : whole);
}

// Of a row in the scratch; returns what one of its bytes is worth.
inline float ref_quantise_row(const GemmArgs &args, const float *a, int8_t *to) {
  constexpr float kLeast = 1e-30f;
  float to_byte = 0.0f, step = args.w.lhs_scale;
  if (step != 0.0f) {
    to_byte = 1.0f / step;
  } else {
    const float largest = ref_largest(a, args.w.k);
    if (largest >= kLeast) to_byte = 127.0f / largest, step = largest / 127.0f;
  }
  for (size_t k = 0; k < args.w.k; ++k) to[k] = ref_byte(a[k] * to_byte);
  return step;
}

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_BYTE_ROWS_REF_H_
