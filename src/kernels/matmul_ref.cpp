// matmul_ref.cpp -- the matmul row in plain loops: every CPU runs it, every other row is tested against it.
// Room: kernels. Contract: kernels.h, MatMulArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// One sum, k ascending.
float chain(const MatMulArgs &t, const float *a, const float *b) {
  float sum = 0.0f;
  for (uint32_t k = 0; k < t.k; ++k, a += t.a_column, b += t.b_row) sum += *a * *b;
  return sum;
}

float dot(const MatMulArgs &t, const float *a, const float *b) {
  float lanes[kMatMulLanes] = {};
  for (uint32_t k = 0; k < t.k; ++k, a += t.a_column, b += t.b_row) lanes[k % kMatMulLanes] += *a * *b;
  for (uint32_t half = kMatMulLanes / 2; half > 0; half /= 2) {
    for (uint32_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

void ref_matmul(const MatMulArgs *args) {
  const MatMulArgs t = with_columns(*args);
  const bool chained = lanes_are_columns(t);
  float *y = t.y;
  for (uint32_t i = 0; i < t.m; ++i) {
    const float *a = t.a + ptrdiff_t(i) * t.a_row, *b = t.b;
    for (uint32_t j = 0; j < t.n; ++j, ++y, b += t.b_column) *y = chained ? chain(t, a, b) : dot(t, a, b);
  }
}

}  // namespace

#define RNNPACK_IN_matmul_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_matmul
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
