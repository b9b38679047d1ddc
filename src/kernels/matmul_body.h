// matmul_body.h -- products of two matrices that are both made at run time, where they lie.
// Room: kernels; included once by matmul_<isa>.cpp. Reads a and b; writes y.
// Contract: kernels.h, MatMulArgs.
// Why so: columns that lie side by side are the lanes, and a row of a is broadcast; where it is k that lies side by side, sixteen k
// are the lanes, and some columns at once give the chains that hide a multiply-add's latency.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_MATMUL_BODY_H_
#define RNNPACK_KERNELS_MATMUL_BODY_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr int kSumLanes = int(kMatMulLanes), kSumParts = kSumLanes / kWidth;

// --- Columns side by side ----------------------------------------------------------------------------------------------------

// `count`: of the columns, where they are fewer than a vector.
template <int kRows, int kVectors, bool kWhole>
RNNPACK_INLINE void column_block(const MatMulArgs &t, const float *a, const float *b, float *y, size_t count) {
  F sum[kRows][kVectors];
  RNNPACK_UNROLL
  for (int i = 0; i < kRows; ++i) {
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[i][v] = Vec::set1(0.0f);
  }
  for (uint32_t k = 0; k < t.k; ++k, a += t.a_column, b += t.b_row) {
    F columns[kVectors];
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) columns[v] = kWhole ? Vec::load(b + v * kWidth) : Vec::load_first(b, count);
    RNNPACK_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const F factor = Vec::broadcast(a + i * t.a_row);
      RNNPACK_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[i][v] = Vec::fma(factor, columns[v], sum[i][v]);
    }
  }
  RNNPACK_UNROLL
  for (int i = 0; i < kRows; ++i) {
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      float *to = y + size_t(i) * t.n + v * kWidth;
      kWhole ? Vec::store(to, sum[i][v]) : Vec::store_first(to, sum[i][v], count);
    }
  }
}

template <int kRows>
RNNPACK_INLINE void rows_by_columns(const MatMulArgs &t, const float *a, float *y) {
  constexpr int kMost = Vec::kRegisters >= 32 ? 4 : 2;
  uint32_t j = 0;
  for (; t.n - j >= kMost * kWidth; j += kMost * kWidth) column_block<kRows, kMost, true>(t, a, t.b + j, y + j, 0);
  for (; t.n - j >= kWidth; j += kWidth) column_block<kRows, 1, true>(t, a, t.b + j, y + j, 0);
  if (j < t.n) column_block<kRows, 1, false>(t, a, t.b + j, y + j, t.n - j);
}

RNNPACK_NOINLINE void by_columns(const MatMulArgs &t) {
  uint32_t i = 0;
  for (; t.m - i >= 4; i += 4) rows_by_columns<4>(t, t.a + ptrdiff_t(i) * t.a_row, t.y + size_t(i) * t.n);
  for (; i < t.m; ++i) rows_by_columns<1>(t, t.a + ptrdiff_t(i) * t.a_row, t.y + size_t(i) * t.n);
}

// --- Sixteen lanes over k ----------------------------------------------------------------------------------------------------

// Element k of a run into lane k, zeros behind the last.
RNNPACK_INLINE void take_lanes(const float *x, ptrdiff_t step, size_t count, float *lanes) {
  for (size_t l = 0; l < size_t(kSumLanes); ++l) lanes[l] = l < count ? x[ptrdiff_t(l) * step] : 0.0f;
}

template <int kColumns>
RNNPACK_INLINE void add_lanes(const float *a, const float *const (&b)[kColumns], F (&sum)[kColumns][kSumParts]) {
  RNNPACK_UNROLL
  for (int p = 0; p < kSumParts; ++p) {
    const F factor = Vec::load(a + p * kWidth);
    RNNPACK_UNROLL
    for (int j = 0; j < kColumns; ++j) sum[j][p] = Vec::fma(factor, Vec::load(b[j] + p * kWidth), sum[j][p]);
  }
}

// The sixteen k from k on, of which `count` are there, wherever they lie.
template <int kColumns>
RNNPACK_INLINE void add_taken(const MatMulArgs &t, const float *a, const float *b, size_t k, size_t count,
                              F (&sum)[kColumns][kSumParts]) {
  float factors[kSumLanes], lanes[kColumns][kSumLanes];
  const float *at[kColumns];
  take_lanes(a + ptrdiff_t(k) * t.a_column, t.a_column, count, factors);
  for (int j = 0; j < kColumns; ++j) {
    take_lanes(b + j * t.b_column + ptrdiff_t(k) * t.b_row, t.b_row, count, lanes[j]);
    at[j] = lanes[j];
  }
  add_lanes<kColumns>(factors, at, sum);
}

RNNPACK_INLINE float join_lanes(F (&sum)[kSumParts]) {
  RNNPACK_UNROLL
  for (int half = kSumParts / 2; half > 0; half /= 2) {
    RNNPACK_UNROLL
    for (int p = 0; p < half; ++p) sum[p] = Vec::add(sum[p], sum[p + half]);
  }
  return Vec::sum(sum[0]);
}

template <int kColumns>
RNNPACK_INLINE void dot_block(const MatMulArgs &t, const float *a, const float *b, float *y) {
  F sum[kColumns][kSumParts];
  RNNPACK_UNROLL
  for (int j = 0; j < kColumns; ++j) {
    RNNPACK_UNROLL
    for (int p = 0; p < kSumParts; ++p) sum[j][p] = Vec::set1(0.0f);
  }
  size_t k = 0;
  if (t.a_column == 1 && t.b_row == 1) {
    const float *at[kColumns];
    RNNPACK_UNROLL
    for (int j = 0; j < kColumns; ++j) at[j] = b + j * t.b_column;
    for (; t.k - k >= size_t(kSumLanes); k += kSumLanes) {
      add_lanes<kColumns>(a + k, at, sum);
      RNNPACK_UNROLL
      for (int j = 0; j < kColumns; ++j) at[j] += kSumLanes;
    }
  }
  for (; k < t.k; k += kSumLanes) add_taken<kColumns>(t, a, b, k, t.k - k, sum);
  RNNPACK_UNROLL
  for (int j = 0; j < kColumns; ++j) y[j] = join_lanes(sum[j]);
}

RNNPACK_NOINLINE void by_dots(const MatMulArgs &t) {
  constexpr uint32_t kMost = kSumParts == 1 ? 8 : kSumParts == 2 || Vec::kRegisters >= 32 ? 4 : 2;
  float *y = t.y;
  for (uint32_t i = 0; i < t.m; ++i) {
    const float *a = t.a + ptrdiff_t(i) * t.a_row;
    uint32_t j = 0;
    for (; t.n - j >= kMost; j += kMost, y += kMost) dot_block<int(kMost)>(t, a, t.b + ptrdiff_t(j) * t.b_column, y);
    for (; j < t.n; ++j, ++y) dot_block<1>(t, a, t.b + ptrdiff_t(j) * t.b_column, y);
  }
}

void matmul_run(const MatMulArgs *args) {
  const MatMulArgs t = with_columns(*args);
  lanes_are_columns(t) ? by_columns(t) : by_dots(t);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_MATMUL_BODY_H_
