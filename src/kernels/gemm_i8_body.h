// gemm_i8_body.h -- rows against panels of int8: rows are quantised to bytes, sums are integers, each becomes a float once.
// Room: kernels; included once by gemm_i8_<isa>.cpp after a vec_<isa>.h and Int, the words on bytes. Writes out and its scratch.
// Int: I are the sums of a vector of units. kZero is the byte of a zero, as the instructions want it: 0, or 127 where they take
// no sign; to_float knows which. add_dot adds four k of a vector, or, where kGroups is more than one, add_groups that many times
// four k of all vectors of a block. kSums is how many I are summed side by side to hide a latency, kMostVectors how many of one
// row the registers hold beside what is added, kMostRows how many rows share a load, kTurns how often a loop does its work before
// it looks whether it ends, kPairs whether blocks of four rows are summed by sum_pairs, kSharesPanel whether four rows share what
// add_dots reads. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int8". Integers do not depend on the order of summing,
// so a block may take k in as many chains as hide the latency of a multiply-add; what follows the sum is two roundings in a fixed
// order. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_I8_BODY_H_
#define RNNPACK_KERNELS_GEMM_I8_BODY_H_

#include "kernels/finish_bytes_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// The same for whole tiles on top of something, without a diagonal.
template <int kVectors>
RNNPACK_INLINE void finish_row(const ByteBlock &b, const I *sum, size_t row) {
  const GemmArgs &g = *b.args;
  const size_t start_tile = g.start_tile != 0 ? g.start_tile : b.width, out_tile = g.out_tile != 0 ? g.out_tile : b.width;
  const size_t of_unit = b.tile * b.width + b.column, at = b.first_row + row;
  const float *start = offset_bytes(g.start, at * g.start_row_bytes) + b.tile * start_tile + b.column;
  float *out = offset_bytes(g.out, at * g.out_row_bytes) + b.tile * out_tile + b.column;
  const F of_row = Vec::set1(*b.rows.scale(row));
  RNNPACK_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const F scale = Vec::mul(Vec::load(g.w.scales + of_unit + v * kWidth), of_row);
    const F value = Int::to_float(sum[v], g.w.unit_sums + of_unit + v * kWidth);
    Vec::store(out + v * kWidth, Vec::fma(value, scale, Vec::load(start + v * kWidth)));
  }
}

template <int kVectors>
RNNPACK_NOINLINE void finish_rows(const ByteBlock &b, const I *sum, size_t rows) {
  if (is_slow_path(*b.args)) return finish_slow_path(b, sum, rows, kVectors);
  RNNPACK_NO_UNROLL
  for (size_t m = 0; m < rows; ++m) finish_row<kVectors>(b, sum + m * kVectors, b.row + m);
}

// The copy is what a loop that is not unrolled may count through.
template <int kMr, int kVectors>
RNNPACK_INLINE void finish_block(const ByteBlock &b, const I (&sum)[kMr][kVectors]) {
  if constexpr (kMr == 1) {
    if (!is_slow_path(*b.args)) return finish_row<kVectors>(b, sum[0], b.row);
  }
  I kept[kMr * kVectors];
  RNNPACK_UNROLL
  for (int i = 0; i < kMr * kVectors; ++i) kept[i] = sum[i / kVectors][i % kVectors];
  kMr == 1 ? finish_slow_path(b, kept, 1, kVectors) : finish_rows<kVectors>(b, kept, kMr);
}

// Chains of sums per vector: as many as there is room for where rows and vectors alone are fewer.
constexpr int byte_chains(int rows, int vectors) {
  const int chains = Int::kSums / (rows * vectors);
  return chains < 1 ? 1 : chains;
}

// A loop does its work once for each chain at least; one of little work more often.
constexpr int byte_turns(int rows, int vectors) {
  const int chains = byte_chains(rows, vectors);
  return (rows == 1 || vectors <= 2) && chains < Int::kTurns ? Int::kTurns : chains;
}

template <int kVectors>
RNNPACK_INLINE void add_one_group(I (&sum)[kVectors], const uint8_t *a, const uint8_t *panel) {
  const auto factor = Int::broadcast(a);
  RNNPACK_UNROLL
  for (int v = 0; v < kVectors; ++v) Int::add_dot(&sum[v], factor, panel + v * kWidth * int{kColumnBytes});
}

template <class Words, int kVectors>
RNNPACK_INLINE void add_turn(I (&sum)[kVectors], const uint8_t *a, const uint8_t *panel, size_t panel_k) {
  if constexpr (Words::kGroups == 1) {
    add_one_group(sum, a, panel);
  } else {
    Words::add_groups(sum, a, panel, panel_k);
  }
}

// One turn of all rows. Where each add_dot would read the panel for itself, four rows share what they read.
template <class Words, int kMr, int kVectors>
RNNPACK_INLINE void add_rows(I (&sum)[kMr][kVectors], const uint8_t *const (&a)[kMr], size_t k, const uint8_t *panel,
                             size_t panel_k) {
  if constexpr (kMr == 4 && Words::kSharesPanel) {
    const I factors[4] = {Words::broadcast(a[0] + k * 4), Words::broadcast(a[1] + k * 4), Words::broadcast(a[2] + k * 4),
                          Words::broadcast(a[3] + k * 4)};
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      I *const sums[4] = {&sum[0][v], &sum[1][v], &sum[2][v], &sum[3][v]};
      Words::add_dots(sums, factors, panel + v * kWidth * int{kColumnBytes});
    }
  } else {
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) add_turn<Words>(sum[m], a[m] + k * 4, panel, panel_k);
  }
}

template <int kMr, int kVectors>
RNNPACK_NOINLINE void byte_block(const ByteBlock &b) {
  constexpr int kChains = byte_chains(kMr, kVectors), kTurns = byte_turns(kMr, kVectors), kGroups = Int::kGroups;
  I sum[kChains][kMr][kVectors];
  const uint8_t *a[kMr];
  RNNPACK_UNROLL
  for (int m = 0; m < kMr; ++m) {
    a[m] = b.rows.bytes(b.row + static_cast<size_t>(m));
    RNNPACK_UNROLL
    for (int i = 0; i < kChains * kVectors; ++i) sum[i / kVectors][m][i % kVectors] = Int::zero();
  }
  const uint8_t *panel = b.panel;
  size_t k = 0;
  RNNPACK_NO_UNROLL
  for (; k + kTurns * kGroups <= b.groups; k += kTurns * kGroups) {
    RNNPACK_UNROLL
    for (int t = 0; t < kTurns; ++t, panel += kGroups * b.panel_k)
      add_rows<Int>(sum[t % kChains], a, k + static_cast<size_t>(t * kGroups), panel, b.panel_k);
  }
  if constexpr (kTurns * kGroups > 1) {
    RNNPACK_NO_UNROLL
    for (; k < b.groups; ++k, panel += b.panel_k) {
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) add_one_group(sum[0][m], a[m] + k * 4, panel);
    }
  }
  RNNPACK_UNROLL
  for (int i = kMr * kVectors; i < kChains * kMr * kVectors; ++i) {
    const int m = i / kVectors % kMr, v = i % kVectors;
    sum[0][m][v] = Int::add(sum[0][m][v], sum[i / kVectors / kMr][m][v]);
  }
  finish_block<kMr, kVectors>(b, sum[0]);
}

// Where two rows are multiplied by two units at once.
template <class Words, int kVectors>
RNNPACK_NOINLINE void pair_block(const ByteBlock &b) {
  I sum[4][kVectors];
  const uint8_t *const a[4] = {b.rows.bytes(b.row), b.rows.bytes(b.row + 1), b.rows.bytes(b.row + 2), b.rows.bytes(b.row + 3)};
  Words::sum_pairs(sum, a, b.panel, b.panel_k, b.groups);
  finish_block<4, kVectors>(b, sum);
}

template <int kVectors>
RNNPACK_INLINE size_t byte_rows(const ByteBlock &b, size_t left) {
  if constexpr (Int::kPairs != 0) {
    if (left >= 4) return pair_block<Int, kVectors>(b), 4;
  } else if constexpr (Int::kMostRows >= 4) {
    if (left >= 4) return byte_block<4, kVectors>(b), 4;
  }
  if constexpr (Int::kMostRows >= 2) {
    if (left >= 2) return byte_block<2, kVectors>(b), 2;
  }
  return byte_block<1, kVectors>(b), 1;
}

// All of the quantised rows against some vectors of a tile, whose gates have kGateVectors each.
template <int kGateVectors>
RNNPACK_INLINE void byte_vectors(ByteBlock *at, size_t rows, int vectors) {
  ByteBlock &b = *at;
  for (b.row = 0; b.row < rows;) {
    const size_t left = rows - b.row;
    if (kGateVectors % 4 == 0 || vectors == 4) {
      b.row += byte_rows<4>(b, left);
    } else if (vectors == 3) {
      b.row += byte_rows < kGateVectors % 4 == 0 ? 4 : 3 > (b, left);
    } else if (vectors == 2) {
      b.row += byte_rows < kGateVectors % 4 == 0 ? 4 : 2 > (b, left);
    } else {
      b.row += byte_rows < kGateVectors == 1 ? 1 : 4 > (b, left);
    }
  }
}

// One row against a tile of three or four gates, where that many sums are in registers: a panel is then read from end to end.
template <int kGateVectors>
RNNPACK_INLINE bool whole_tile(ByteBlock *b, const uint8_t *panel, int vectors) {
  if constexpr (kGateVectors > 1 && 4 * kGateVectors <= Int::kMostVectors) {
    b->row = b->column = 0;
    b->panel = panel;
    if (vectors == 4 * kGateVectors) return byte_block<1, 4 * kGateVectors>(*b), true;
    if (vectors == 3 * kGateVectors) return byte_block<1, 3 * kGateVectors>(*b), true;
  }
  return false;
}

template <int kNr>
void gemm_i8_run(const GemmArgs *args) {
  constexpr int kGateVectors = kNr / kWidth;
  const int tile_vectors = static_cast<int>(args->w.gates) * kGateVectors, pass = tile_vectors % 4 == 0   ? 4
                                                                                  : tile_vectors % 3 == 0 ? 3
                                                                                                          : tile_vectors;
  ByteBlock b = {};
  b.args = args;
  b.rows = byte_rows(*args, false);
  b.width = size_t{args->w.gates} * kNr;
  b.panel_k = b.width * kColumnBytes;
  b.groups = (size_t{args->w.k} + 3) / 4;
  for (b.first_row = 0; b.first_row < args->rows; b.first_row += kQuantisedRows) {
    const size_t left = args->rows - b.first_row, rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < rows && !args->prepared; ++m) quantise_row(args, b.first_row + m, b.rows, m, Int::kZero);
    for (b.tile = args->tile_begin; b.tile < args->tile_end; ++b.tile) {
      const uint8_t *panel = static_cast<const uint8_t *>(args->w.panels) + b.tile * b.groups * b.panel_k;
      if (rows == 1 && whole_tile<kGateVectors>(&b, panel, tile_vectors)) continue;
      for (int v = 0; v < tile_vectors; v += pass) {
        b.column = static_cast<size_t>(v) * kWidth;
        b.panel = panel + b.column * kColumnBytes;
        byte_vectors<kGateVectors>(&b, rows, pass);
      }
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_I8_BODY_H_
