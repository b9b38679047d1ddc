// lanes.h -- sums (and other folds) of many floats in one fixed order: element i goes to lane i mod 16, lanes are joined in pairs.
// The order depends on the number of elements alone, so bits are the same on every instruction set; compilers make vectors of it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_LANES_H_
#define RNNPACK_OPS_LANES_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp {

constexpr uint32_t kLanes = 16;

// What a fold does: map is applied to each element, join puts two results together, start is the fold of nothing.
struct FoldSum {
  static float start() { return 0.0f; }
  static float join(float a, float b) { return a + b; }
  float map(float x) const { return x; }
};
struct FoldSumAbs : FoldSum {
  float map(float x) const { return x < 0.0f ? -x : x; }
};
struct FoldSumSquare : FoldSum {
  float map(float x) const { return x * x; }
};
struct FoldSumSquareOff : FoldSum {  // sum of (x - centre)^2
  float centre;
  explicit FoldSumSquareOff(float c) : centre(c) {}
  float map(float x) const { return (x - centre) * (x - centre); }
};
struct FoldProduct {
  static float start() { return 1.0f; }
  static float join(float a, float b) { return a * b; }
  float map(float x) const { return x; }
};
// A NaN wins, as in ONNX's reference.
struct FoldMax {
  static float start() { return -__builtin_inff(); }
  static float join(float a, float b) { return b > a || b != b ? b : a; }
  float map(float x) const { return x; }
};
struct FoldMin {
  static float start() { return __builtin_inff(); }
  static float join(float a, float b) { return b < a || b != b ? b : a; }
  float map(float x) const { return x; }
};

template <class Fold>
void fold_start(float *lanes) {
  for (uint32_t l = 0; l < kLanes; ++l) lanes[l] = Fold::start();
}

// Adds x[0], x[step], ... x[(n - 1) * step] to the lanes.
template <class Fold>
void fold_into(const Fold &fold, const float *x, ptrdiff_t step, size_t n, float *lanes) {
  size_t i = 0;
  if (step == 1 && n >= kLanes) {
    float sums[kLanes];  // in registers: what is behind a pointer is stored and loaded for every element
    for (uint32_t l = 0; l < kLanes; ++l) sums[l] = lanes[l];
    for (; n - i >= kLanes; i += kLanes) {
      RNNPACK_UNROLL_4
      for (uint32_t l = 0; l < kLanes; ++l) sums[l] = Fold::join(sums[l], fold.map(x[i + l]));
    }
    for (uint32_t l = 0; l < kLanes; ++l) lanes[l] = sums[l];
  }
  for (; i < n; ++i) {
    float &lane = lanes[i % kLanes];
    lane = Fold::join(lane, fold.map(x[static_cast<ptrdiff_t>(i) * step]));
  }
}

template <class Fold>
float fold_end(float *lanes, uint32_t count = kLanes) {
  for (uint32_t half = count / 2; half > 0; half /= 2) {
    for (uint32_t l = 0; l < half; ++l) lanes[l] = Fold::join(lanes[l], lanes[l + half]);
  }
  return lanes[0];
}

template <class Fold>
float fold_row(const Fold &fold, const float *x, size_t n) {
  float lanes[kLanes];
  fold_start<Fold>(lanes);
  fold_into(fold, x, 1, n, lanes);
  return fold_end<Fold>(lanes);
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_LANES_H_
