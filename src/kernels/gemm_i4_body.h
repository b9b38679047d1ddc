// gemm_i4_body.h -- rows against panels with a scale for each group of k, of int4 and int8: rows are bytes, sums over a group are
// integers, each becomes a float once. Room: kernels; included once by gemm_i4_<isa>.cpp and gemm_q8_<isa>.cpp after a vec_<isa>.h
// and GroupDot, the words on bytes. Writes out and its scratch. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int4". GroupDot
// multiplies weights that are kExcess too large; so many times the sum of a group's bytes are taken off again. kStepK: the k in
// four bytes of a unit. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_I4_BODY_H_
#define RNNPACK_KERNELS_GEMM_I4_BODY_H_

#include "kernels/byte_rows.h"
#include "kernels/finish_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

using GroupSum = decltype(GroupDot::minus(0));
constexpr size_t kStepBytes = 4;                  // of a unit
constexpr size_t kChunk = 32 / GroupDot::kStepK;  // steps: as much as GroupDot::Partial takes

// A row's bytes, and of each group of k kExcess times their sum.
RNNPACK_NOINLINE void quantise_groups(const GemmArgs *args, size_t row, const ByteRows &to, size_t m) {
  quantise_row(args, row, to, m, 0);
  const uint8_t *bytes = to.bytes(m);
  int32_t *sums = to.group_sums(m);
  for (size_t k = 0; k < args->w.k; k += args->w.group_k) {
    const size_t left = align_up(args->w.k - k, 32), count = left < args->w.group_k ? left : args->w.group_k;
    int32_t sum = 0;
    for (size_t i = 0; i < count; i += 32) sum += sum_of_32_bytes(bytes + k + i);
    *sums++ = sum * GroupDot::kExcess;
  }
}

// Where a block of some rows and vectors of one tile lies.
struct GroupBlock {
  const GemmArgs *args;
  const uint8_t *panel;  // of the block's first vector
  size_t panel_k, steps, group_steps;
  ByteRows rows;
  size_t row, first_row;  // among the quantised ones, and where those begin
  size_t tile, column;    // the block's first column within the tile
};

// Adds steps [from, end), kChunk at most, of one group.
template <int kMr, int kVectors>
RNNPACK_INLINE void add_steps(const GroupBlock &b, size_t from, size_t end, GroupSum (&sum)[kMr][kVectors]) {
  typename GroupDot::Partial part[kMr][kVectors];
  RNNPACK_UNROLL
  for (int i = 0; i < kMr * kVectors; ++i) part[i / kVectors][i % kVectors].clear();
  const uint8_t *panel = b.panel + from * b.panel_k;
  for (size_t k = from; k < end; ++k, panel += b.panel_k) {
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const GroupDot::Weights w(panel + static_cast<size_t>(v) * kWidth * kStepBytes);
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m)
        GroupDot::add_step(&part[m][v], w, b.rows.bytes(b.row + static_cast<size_t>(m)) + k * GroupDot::kStepK);
    }
  }
  RNNPACK_UNROLL
  for (int i = 0; i < kMr * kVectors; ++i)
    sum[i / kVectors][i % kVectors] = part[i / kVectors][i % kVectors].added_to(sum[i / kVectors][i % kVectors]);
}

template <int kMr, int kVectors>
RNNPACK_NOINLINE void group_block(const GroupBlock &b) {
  const GemmArgs &g = *b.args;
  const size_t width = GroupDot::tile_width(g), groups = (size_t{g.w.k} + g.w.group_k - 1) / g.w.group_k;
  const float *scales = g.w.scales + b.tile * groups * width + b.column;
  F total[kMr][kVectors];
  RNNPACK_UNROLL
  for (int i = 0; i < kMr * kVectors; ++i) total[i / kVectors][i % kVectors] = Vec::set1(0.0f);
  for (size_t group = 0, first = 0; group < groups; ++group, first += b.group_steps, scales += width) {
    const size_t end = first + b.group_steps < b.steps ? first + b.group_steps : b.steps;
    GroupSum sum[kMr][kVectors];
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      const GroupSum excess = GroupDot::minus(b.rows.group_sums(b.row + static_cast<size_t>(m))[group]);
      RNNPACK_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[m][v] = excess;
    }
    for (size_t k = first; k < end; k += kChunk) add_steps<kMr, kVectors>(b, k, k + kChunk < end ? k + kChunk : end, sum);
    RNNPACK_UNROLL
    for (int i = 0; i < kMr * kVectors; ++i) {
      const int m = i / kVectors, v = i % kVectors;
      total[m][v] = Vec::fma(GroupDot::to_float(sum[m][v]), Vec::load(scales + v * kWidth), total[m][v]);
    }
  }
  F kept[kMr * kVectors];
  RNNPACK_UNROLL
  for (int i = 0; i < kMr * kVectors; ++i) kept[i] = total[i / kVectors][i % kVectors];
  VectorPlace place = {0, b.tile, 0, width};
  RNNPACK_NO_UNROLL
  for (size_t i = 0; i < kMr * kVectors; ++i) {
    const size_t row = b.row + i / kVectors;
    place.row = b.first_row + row;
    place.column = b.column + i % kVectors * kWidth;
    finish_vector(g, place, kept[i], Vec::set1(*b.rows.scale(row)));
  }
}

// All of the quantised rows against some vectors of a tile.
template <int kVectors>
RNNPACK_NOINLINE void group_rows(GroupBlock b, size_t rows) {
  b.row = 0;
  for (; b.row + GroupDot::kMostRows <= rows; b.row += GroupDot::kMostRows) group_block<GroupDot::kMostRows, kVectors>(b);
  for (; b.row < rows; ++b.row) group_block<1, kVectors>(b);
}

// The next vectors of a tile that has `left` more, whose gates have kGateVectors each. Returns how many. One row takes a whole tile
// of four gates where the registers hold what it adds up: its panel is then read from end to end.
template <int kGateVectors>
RNNPACK_INLINE size_t group_vectors(const GroupBlock &b, size_t rows, size_t left) {
  constexpr int kWhole = 4 * kGateVectors;
  if constexpr (kGateVectors > 1 && kWhole <= GroupDot::kMostVectors) {
    if (rows == 1 && left == kWhole) return group_block<1, kWhole>(b), kWhole;
  }
  if (kGateVectors % 4 == 0 || left >= 4) return group_rows<4>(b, rows), 4;
  if (kGateVectors % 2 == 0 || left >= 2) return group_rows < kGateVectors % 4 == 0 ? 4 : 2 > (b, rows), 2;
  return group_rows < kGateVectors == 1 ? 1 : 4 > (b, rows), 1;
}

template <int kNr>
void gemm_group_run(const GemmArgs *args) {
  GroupBlock b = {};
  b.args = args;
  b.rows = byte_rows(*args, true);
  b.panel_k = size_t{args->w.gates} * kNr * kStepBytes;
  b.steps = (size_t{args->w.k} + GroupDot::kStepK - 1) / GroupDot::kStepK;
  b.group_steps = args->w.group_k / GroupDot::kStepK;
  const size_t vectors = size_t{args->w.gates} * kNr / kWidth;
  for (b.first_row = 0; b.first_row < args->rows; b.first_row += kQuantisedRows) {
    const size_t left = args->rows - b.first_row, rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < rows && !args->prepared; ++m) quantise_groups(args, b.first_row + m, b.rows, m);
    for (b.tile = args->tile_begin; b.tile < args->tile_end; ++b.tile) {
      const uint8_t *panel = static_cast<const uint8_t *>(args->w.panels) + b.tile * b.steps * b.panel_k;
      for (size_t v = 0; v < vectors;) {
        b.column = v * kWidth;
        b.panel = panel + b.column * kStepBytes;
        v += group_vectors<kNr / kWidth>(b, rows, vectors - v);
      }
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_I4_BODY_H_
