// gemm_few_body.h -- rows against so few columns that a tile of them is mostly padding: the rows lie in the lanes.
// Room: kernels; included by gemm_body.h, used by the ISAs whose Vec::kColumns is true. Touches only its arguments.
// Contract: kernels.h, GemmArgs; the bits of gemm_body.h.
// Why so: the outputs of one column are as many chains as there are rows; a small square of A is transposed in registers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_FEW_BODY_H_
#define RNNPACK_KERNELS_GEMM_FEW_BODY_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr uint32_t kFewUnits = 4;
// Rows at once, in vectors: the chains of fewer would not hide the latency of a multiply-add.
constexpr int kFewVectors = 2;

// Element k of kWidth rows.
RNNPACK_INLINE F load_column(const float *a, size_t row_bytes) {
  float column[kWidth];
  for (int m = 0; m < kWidth; ++m, a = offset_bytes(a, row_bytes)) column[m] = *a;
  return Vec::load(column);
}

// The first `count` elements of kWidth rows, three at most, column after column.
template <class V>
RNNPACK_NOINLINE void few_columns(const float *a, size_t row_bytes, size_t count, float *to) {
  F columns[4];
  if (row_bytes != count * sizeof(float)) {
    for (size_t n = 0; n < count; ++n) Vec::store(to + n * kWidth, load_column(a + n, row_bytes));
    return;
  } else if (count == 3) {
    V::load_threes(a, columns);
  } else if (count == 2) {
    V::unzip(Vec::load(a), Vec::load(a + kWidth), &columns[0], &columns[1]);
  } else {
    columns[0] = Vec::load(a);
  }
  for (size_t n = 0; n < count; ++n) Vec::store(to + n * kWidth, columns[n]);
}

RNNPACK_INLINE void store_column(float *out, size_t row_bytes, F column) {
  if (row_bytes == sizeof(float)) return Vec::store(out, column);
  float rows[kWidth];
  Vec::store(rows, column);
  for (int m = 0; m < kWidth; ++m, out = offset_bytes(out, row_bytes)) *out = rows[m];
}

// Columns one after another become rows one after another.
template <class V>
RNNPACK_INLINE void store_side_by_side(float *out, const F (&column)[1]) {
  Vec::store(out, column[0]);
}
template <class V>
RNNPACK_INLINE void store_side_by_side(float *out, const F (&column)[2]) {
  F low, high;
  V::zip(column[0], column[1], &low, &high);
  Vec::store(out, low);
  Vec::store(out + kWidth, high);
}
template <class V>
RNNPACK_INLINE void store_side_by_side(float *out, const F (&column)[4]) {
  F even[2], odd[2];
  V::zip(column[0], column[2], &even[0], &even[1]);
  V::zip(column[1], column[3], &odd[0], &odd[1]);
  RNNPACK_UNROLL
  for (int half = 0; half < 2; ++half) store_side_by_side<V>(out + 2 * half * kWidth, {even[half], odd[half]});
}

template <class V>
RNNPACK_INLINE void store_side_by_side(float *out, const F (&column)[3]) {
  V::store_threes(out, column);
}

template <class V, int kUnits>
RNNPACK_INLINE void store_columns(float *out, size_t row_bytes, const F (&column)[kUnits]) {
  if (row_bytes == kUnits * sizeof(float)) return store_side_by_side<V>(out, column);
  RNNPACK_UNROLL
  for (int u = 0; u < kUnits; ++u) store_column(out + u, row_bytes, column[u]);
}

template <int kUnits>
RNNPACK_INLINE void add_column(F column, const float *weights, F (&sum)[kUnits]) {
  RNNPACK_UNROLL
  for (int u = 0; u < kUnits; ++u) sum[u] = Vec::fma(column, Vec::broadcast(weights + u), sum[u]);
}

// There are kFewVectors vectors of rows and more.
template <int kRow, class V, int kUnits>
RNNPACK_NOINLINE void rows_apart(const GemmArgs *args) {
  constexpr int kVectors = kFewVectors;
  constexpr uint32_t kRows = kVectors * kWidth;
  const uint32_t last = args->rows - kRows;
  const GemmTap whole_row = {args->a, args->a_row_bytes, args->w.k};
  for (uint32_t next = 0; next < args->rows; next += kRows) {
    const uint32_t row = next < last ? next : last;  // some of the last ones twice
    const float *panel = static_cast<const float *>(args->w.panels);
    F sum[kVectors][kUnits];
    RNNPACK_UNROLL
    for (int i = 0; i < kVectors * kUnits; ++i)
      sum[i / kUnits][i % kUnits] = Vec::set1(args->start != nullptr ? args->start[i % kUnits] : 0.0f);
    const GemmTap *tap = args->in_parts ? args->taps : &whole_row;
    for (size_t left = args->w.k; left != 0; left -= tap->k, ++tap) {
      const float *a = offset_bytes(tap->a, row * tap->row_bytes);
      const size_t vector_bytes = kWidth * tap->row_bytes, rest = tap->k % 4;
      for (const float *end = a + (tap->k - rest); a != end; a += 4, panel += 4 * kRow) {
        F columns[kVectors][4];
        RNNPACK_UNROLL
        for (int v = 0; v < kVectors; ++v) V::load_columns(offset_bytes(a, v * vector_bytes), tap->row_bytes, columns[v]);
        RNNPACK_UNROLL
        for (int n = 0; n < 4; ++n) {
          RNNPACK_UNROLL
          for (int v = 0; v < kVectors; ++v) add_column(columns[v][n], panel + n * kRow, sum[v]);
        }
      }
      if (rest == 0) continue;
      float columns[kVectors][3 * kWidth];
      for (int v = 0; v < kVectors; ++v) few_columns<V>(offset_bytes(a, v * vector_bytes), tap->row_bytes, rest, columns[v]);
      for (size_t n = 0; n < rest; ++n, panel += kRow) {
        RNNPACK_UNROLL
        for (int v = 0; v < kVectors; ++v) add_column(Vec::load(columns[v] + n * kWidth), panel, sum[v]);
      }
    }
    float *out = offset_bytes(args->out, row * args->out_row_bytes);
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store_columns<V>(out, args->out_row_bytes, sum[v]);
      out = offset_bytes(out, kWidth * args->out_row_bytes);
    }
  }
}

// --- A window that slides by one element: its rows lie in the lanes as they are ----------------------------------------------

constexpr int most_sliding_vectors(int units) {
  return units > 2 ? kFewVectors : 2 * kFewVectors;
}

// There are kVectors vectors of rows and more.
template <int kRow, class V, int kUnits, int kVectors>
RNNPACK_NOINLINE void sliding_vectors(const GemmArgs *args) {
  constexpr uint32_t kRows = kVectors * kWidth;
  const uint32_t last = args->rows - kRows;
  for (uint32_t next = 0; next < args->rows; next += kRows) {
    const uint32_t row = next < last ? next : last;
    const float *a = args->a + row, *panel = static_cast<const float *>(args->w.panels);
    F sum[kVectors][kUnits];
    RNNPACK_UNROLL
    for (int i = 0; i < kVectors * kUnits; ++i)
      sum[i / kUnits][i % kUnits] = Vec::set1(args->start != nullptr ? args->start[i % kUnits] : 0.0f);
    for (size_t i = 0; i < args->w.k; ++i, panel += kRow) {
      F weight[kUnits];
      RNNPACK_UNROLL
      for (int u = 0; u < kUnits; ++u) weight[u] = Vec::broadcast(panel + u);
      RNNPACK_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const F column = Vec::load(a + i + v * kWidth);
        RNNPACK_UNROLL
        for (int u = 0; u < kUnits; ++u) sum[v][u] = Vec::fma(column, weight[u], sum[v][u]);
      }
    }
    float *out = offset_bytes(args->out, row * args->out_row_bytes);
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store_columns<V>(out, args->out_row_bytes, sum[v]);
      out = offset_bytes(out, kWidth * args->out_row_bytes);
    }
  }
}

// There are kFewVectors vectors of rows and more.
template <int kRow, class V, int kUnits>
void sliding_rows(const GemmArgs *args) {
  constexpr int kMost = most_sliding_vectors(kUnits);
  if (args->rows < uint32_t{kMost * kWidth}) return sliding_vectors<kRow, V, kUnits, kFewVectors>(args);
  sliding_vectors<kRow, V, kUnits, kMost>(args);
}

// Returns how many rows are done: all, or none where they are too few.
template <int kRow, class V>
RNNPACK_INLINE uint32_t few_units(const GemmArgs *args) {
  constexpr void (*kBySlide[])(const GemmArgs *) = {sliding_rows<kRow, V, 1>, sliding_rows<kRow, V, 2>, sliding_rows<kRow, V, 3>,
                                                    sliding_rows<kRow, V, 4>};
  constexpr void (*kApart[])(const GemmArgs *) = {rows_apart<kRow, V, 1>, rows_apart<kRow, V, 2>, rows_apart<kRow, V, 3>,
                                                  rows_apart<kRow, V, 4>};
  if (args->rows < uint32_t{kFewVectors * kWidth}) return 0;
  const bool slides = !args->in_parts && args->a_row_bytes == sizeof(float);
  (slides ? kBySlide : kApart)[args->units - 1](args);
  return args->rows;
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_FEW_BODY_H_
