// device_layout.h -- which weight lies where on the device, and what is where in a block's shared memory: one arithmetic for who
// packs, who plans and who computes. Host and device, constexpr.
//
// A block owns `units` units (of a dense layer: outputs) with all their gates; its image holds their rows of a matrix, all k.
//   matrix units: for each warp, for each of its k-tiles (tile % 8 = warp), for each row tile of 16 rows: the A fragment of
//        mma.m16n8k16, 32 lanes x 16 bytes. The last row tile may be a half one (rows 0..7): 32 lanes x 8 bytes. Row = unit * G +
//        gate. A fragment of mma.m16n8k32 is the same with two bytes in the place of each half.
//   int4 for each row tile of 16 rows, for each k-tile of 32 k: the A fragment of mma.m16n8k32, 32 lanes x 8 bytes, rows 0..7 in
//        the low int4 and rows 8..15 in the high ones; then the 16 rows' scales
//   f32  for each warp (4, 8 or 16 rows, the least that do), for each group of 64 columns, for each pair of rows: 32 lanes x
//        { w[r][c] w[r][c+1] w[r+1][c] w[r+1][c+1] }, c = 64 group + 2 lane. A warp has rows / G whole units; the rest is 0.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_DEVICE_LAYOUT_H_
#define RNNPACK_CUDA_DEVICE_LAYOUT_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {
namespace cuda {

constexpr uint32_t kWarps = 8, kThreads = 256, kLanes = 32;
constexpr uint32_t kMmaColumns = 8;     // batch rows that an mma multiplies at once
constexpr uint32_t kMostWarpRows = 16;  // f32
constexpr uint32_t kF32Columns = 8;     // that share a load of f32 weights

constexpr uint32_t ceil_div(uint32_t a, uint32_t b) {
  return a / b + (a % b != 0);
}

struct Shape {
  uint32_t gates, k, units;  // units of a block
};

// What a matrix is multiplied as. f32, f16, bf16: numbers of the blob, rounded; the others as the blob has them, by the CPU's
// invariant (docs/KERNELS.md, "Int8" and "Sparse").
enum class Weights : uint32_t { kF32 = 0, kF16 = 1, kBf16 = 2, kI8 = 3, kBlocks = 4, kByteBlocks = 5, kI4 = 6 };

constexpr bool on_matrix_units(Weights w) {
  return w == Weights::kF16 || w == Weights::kBf16 || w == Weights::kI8 || w == Weights::kI4;
}
constexpr bool are_blocks(Weights w) {
  return w == Weights::kBlocks || w == Weights::kByteBlocks;
}
// What they are multiplied by is quantized to int8.
constexpr bool are_bytes(Weights w) {
  return w == Weights::kI8 || w == Weights::kByteBlocks || w == Weights::kI4;
}
// Of the matrix units, but for int4, a warp multiplies k-tiles of its own, and their sums are added over warps. In an exchange
// their words come one after the other: a load of a warp's lanes then has no gaps.
constexpr bool is_sliced(Weights w) {
  return on_matrix_units(w) && w != Weights::kI4;
}
// A sum begins with what it is added to, as on the CPU; else it is added to it at the end.
constexpr bool is_chained(Weights w) {
  return are_blocks(w) || are_bytes(w);
}

// --- Matrix units ------------------------------------------------------------------------------------------------------------
// k of these shapes counts halves: of bytes, pairs.

constexpr Shape in_halves(Weights w, const Shape &s) {
  return {s.gates, on_matrix_units(w) && are_bytes(w) ? ceil_div(s.k, 2) : s.k, s.units};
}

constexpr uint32_t mma_rows(const Shape &s) {
  return s.gates * s.units;
}
constexpr uint32_t half_row_tiles(const Shape &s) {
  return ceil_div(mma_rows(s), 8);
}
constexpr uint32_t k_tiles_per_warp(const Shape &s) {
  return ceil_div(ceil_div(s.k, 16), kWarps);
}
// One k-tile of all rows.
constexpr uint32_t step_bytes(const Shape &s) {
  return half_row_tiles(s) * 256;
}
constexpr size_t mma_image_bytes(const Shape &s) {
  return size_t{kWarps} * k_tiles_per_warp(s) * step_bytes(s);
}
constexpr size_t mma_place(const Shape &s, uint32_t row, uint32_t k) {
  const uint32_t tile = k / 16, warp = tile % kWarps, step = tile / kWarps, column = k % 16, m = row / 16, r = row % 16;
  const bool half = m == half_row_tiles(s) / 2;  // a half tile comes last
  const uint32_t lane = r % 8 * 4 + column % 8 / 2;
  const uint32_t reg = half ? column / 8 : 2 * (column / 8) + r / 8;
  return (size_t{warp} * k_tiles_per_warp(s) + step) * step_bytes(s) + m * 512 + lane * (half ? 8 : 16) + 4 * reg +
         2 * (column % 2);
}
// --- int4: shapes of halves, as above ----------------------------------------------------------------------------------------

constexpr uint32_t kNibbleWords = kLanes * 8, kNibbleScales = 16 * 4, kNibbleTile = kNibbleWords + kNibbleScales;
constexpr uint32_t kNibbleTileK = 32;

constexpr uint32_t row_tiles(const Shape &s) {
  return ceil_div(mma_rows(s), 16);
}
constexpr uint32_t k_tiles(const Shape &s) {
  return ceil_div(s.k, 16);
}
constexpr size_t nibble_image_bytes(const Shape &s) {
  return size_t{row_tiles(s)} * k_tiles(s) * kNibbleTile;
}
constexpr size_t nibble_tile(const Shape &s, uint32_t row_tile, uint32_t k_tile) {
  return (size_t{row_tile} * k_tiles(s) + k_tile) * kNibbleTile;
}
// In int4. k: of weights, 2 to a half of the shape.
constexpr size_t nibble_place(const Shape &s, uint32_t row, uint32_t k) {
  const uint32_t column = k / 2 % 16, lane = row % 8 * 4 + column % 8 / 2;
  return (nibble_tile(s, row / 16, k / kNibbleTileK) + lane * 8 + column / 8 * 4 + 2 * (column % 2) + k % 2) * 2 + row % 16 / 8;
}
constexpr size_t scale_place(const Shape &s, uint32_t row, uint32_t k_tile) {
  return nibble_tile(s, row / 16, k_tile) + kNibbleWords + row % 16 * 4;
}

// --- What both have ----------------------------------------------------------------------------------------------------------

constexpr size_t matrix_image_bytes(Weights weights, const Shape &s) {
  return weights == Weights::kI4 ? nibble_image_bytes(s) : mma_image_bytes(s);
}
// Words that a row of h takes in an exchange, at most: of matrix units, whole k-tiles for every warp.
constexpr uint32_t most_row_words(uint32_t hidden) {
  const uint32_t sliced = ceil_div(hidden, 128) * 64;
  return sliced > hidden + 2 ? sliced : hidden + 2;
}
// Halves from one column of h or x to the next in shared memory: 4 words mod 8, so no two lanes of a fragment share a bank.
constexpr uint32_t column_stride(uint32_t k) {
  return ceil_div(k, 128) * 128 + 8;
}
// Floats from one slice of a column's partial sums to the next.
constexpr uint32_t partial_stride_of(uint32_t half_tiles) {
  return ceil_div(half_tiles, 2) * 16 + 4;
}
constexpr uint32_t partial_stride(const Shape &s) {
  return partial_stride_of(half_row_tiles(s));
}

// --- f32 ---------------------------------------------------------------------------------------------------------------------

// Rows of a warp in blocks of so many units, and the units that they are.
constexpr uint32_t rows_of_warp(uint32_t gates, uint32_t units) {
  uint32_t rows = 4;
  while (rows < kMostWarpRows && kWarps * (rows / gates) < units) rows *= 2;
  return rows;
}
constexpr uint32_t units_per_warp(uint32_t gates, uint32_t units) {
  return rows_of_warp(gates, units) / gates;
}
constexpr uint32_t most_f32_units(uint32_t gates, uint32_t rows = kMostWarpRows) {
  return kWarps * (rows / gates);
}
// Pairs of rows that are stored of a warp that has all its units.
constexpr uint32_t pairs_of_warp(uint32_t gates, uint32_t rows) {
  return ceil_div(rows / gates * gates, 2);
}
// Those with units, of warp `warp`: its units come one after the other, and those of warp 0 first.
constexpr uint32_t used_pairs(uint32_t gates, uint32_t rows, uint32_t units, uint32_t warp) {
  const uint32_t each = rows / gates, before = warp * each, mine = units <= before ? 0 : units - before;
  return ceil_div((mine < each ? mine : each) * gates, 2);
}
constexpr uint32_t column_groups(uint32_t k) {
  return ceil_div(k, 64);
}
constexpr size_t f32_image_bytes(const Shape &s) {
  return size_t{kWarps} * column_groups(s.k) * pairs_of_warp(s.gates, rows_of_warp(s.gates, s.units)) * 512;
}
constexpr size_t f32_place(const Shape &s, uint32_t row, uint32_t k) {
  const uint32_t rows = rows_of_warp(s.gates, s.units), warp = row / rows, r = row % rows, pairs = pairs_of_warp(s.gates, rows);
  return ((size_t{warp} * column_groups(s.k) + k / 64) * pairs + r / 2) * 512 + k % 64 / 2 * 16 + 8 * (r % 2) + 4 * (k % 2);
}

// --- Blocks of a sparse matrix ------------------------------------------------------------------------------------------------

constexpr uint32_t kPanelUnits = 16;   // of the blob's panels of blocks
constexpr uint32_t kBlockColumns = 4;  // batch rows at a time

// Units of a block of threads: four panels' gates.
constexpr uint32_t units_of_blocks(uint32_t gates) {
  return 4 / gates * kPanelUnits;
}
// A row that is multiplied: floats or bytes, with room for the block behind k that fills up an entry.
constexpr uint32_t block_column_bytes(Weights w, uint32_t k) {
  return (ceil_div(k, 4) + 1) * 4 * (are_bytes(w) ? 1 : 4);
}

// --- All ---------------------------------------------------------------------------------------------------------------------

constexpr size_t image_bytes(Weights weights, const Shape &s) {
  return on_matrix_units(weights) ? matrix_image_bytes(weights, in_halves(weights, s)) : f32_image_bytes(s);
}
// Rows of a block in the order of its pre-activations and biases, and the row of a gate of one of its units.
constexpr uint32_t block_rows(Weights weights, const Shape &s) {
  return weights == Weights::kF32 ? kWarps * rows_of_warp(s.gates, s.units) : mma_rows(s);
}
constexpr uint32_t row_of_gate(Weights weights, const Shape &s, uint32_t unit, uint32_t gate) {
  if (weights != Weights::kF32) return unit * s.gates + gate;
  const uint32_t each = units_per_warp(s.gates, s.units);
  return unit / each * rows_of_warp(s.gates, s.units) + unit % each * s.gates + gate;
}
// Dense ones: the byte, of int4 the half of one.
constexpr size_t place_of_weight(Weights weights, const Shape &s, uint32_t row, uint32_t k) {
  if (weights == Weights::kI4) return nibble_place(in_halves(weights, s), row, k);
  if (weights == Weights::kI8) return mma_place(in_halves(weights, s), row, k / 2) + k % 2;
  return weights == Weights::kF32 ? f32_place(s, row, k) : mma_place(s, row, k);
}

// --- Shared memory -----------------------------------------------------------------------------------------------------------

constexpr uint32_t align_shared(uint32_t bytes) {
  return (bytes + 127) & ~127u;
}

// Of the resident kernels: what is multiplied, partial sums in as many places (matrix units), the owned units' c, h and, of a GRU
// that resets before it multiplies, z; then the weights that are not in registers. columns: those computed at a time; f32, all.
struct ResidentShared {
  uint32_t input, partial, c, h, z, weights, bytes;
};
constexpr ResidentShared resident_mma_shared(const Shape &s, uint32_t batch, uint32_t columns, uint32_t reg_steps,
                                             uint32_t places = 2) {
  ResidentShared m = {};
  const uint32_t steps = k_tiles_per_warp(s), rest = steps > reg_steps ? steps - reg_steps : 0, own = batch * s.units * 4;
  m.partial = align_shared(columns * column_stride(s.k) * 2);
  m.c = m.partial + places * kWarps * columns * partial_stride(s) * 4;
  m.h = m.c + own;
  m.z = m.h + own;
  m.weights = align_shared(m.z + own);
  m.bytes = m.weights + kWarps * rest * step_bytes(s);
  return m;
}
// Of a cluster's: h as it is multiplied, in two slots; partial sums in two places; a counter of bytes for each slot and warp.
// k_tiles: of a warp.
constexpr uint32_t kClusterUnits = 8;  // whose cells a warp finishes, and whose h is one store
struct ClusterShared {
  uint32_t slot, partial, place, counters, bytes;  // slot, place: bytes of one
};
constexpr ClusterShared resident_cluster_shared(uint32_t half_tiles, uint32_t batch, uint32_t k_tiles) {
  ClusterShared m = {};
  m.slot = batch * column_stride(k_tiles * 128) * 2;
  m.partial = align_shared(2 * m.slot);
  m.place = kWarps * batch * partial_stride_of(half_tiles) * 4;
  m.counters = align_shared(m.partial + 2 * m.place);
  m.bytes = m.counters + 2 * kWarps * 8;
  return m;
}
// The same of f32: two slots of h, a counter for each. A warp has a unit for each four of its rows, so that h goes out in whole
// words of 4, 8 or 16 bytes. groups: of 64 columns.
constexpr uint32_t cluster_f32_units(uint32_t rows) {
  return rows / 4;  // of a warp
}
constexpr uint32_t cluster_f32_pairs(uint32_t gates, uint32_t rows) {
  return ceil_div(cluster_f32_units(rows) * gates, 2);
}
struct ClusterF32Shared {
  uint32_t slot, counters, bytes;
};
constexpr ClusterF32Shared resident_cluster_f32_shared(uint32_t groups) {
  return {groups * 64 * 4, 2 * groups * 64 * 4, 2 * groups * 64 * 4 + 2 * 8};
}
// int4: sums are whole, scales of all k-tiles are here. tiles: row tiles of a warp.
struct NibblesShared {
  uint32_t input, sums, c, h, z, scales, weights, bytes;
};
constexpr NibblesShared resident_nibbles_shared(const Shape &s, uint32_t batch, uint32_t columns, uint32_t tiles, uint32_t held) {
  NibblesShared m = {};
  const uint32_t rest = k_tiles(s) > held ? k_tiles(s) - held : 0, own = batch * s.units * 4;
  m.sums = align_shared(columns * column_stride(s.k) * 2);
  m.c = m.sums + columns * partial_stride(s) * 4;
  m.h = m.c + own;
  m.z = m.h + own;
  m.scales = align_shared(m.z + own);
  m.weights = m.scales + kWarps * tiles * k_tiles(s) * kNibbleScales;
  m.bytes = m.weights + kWarps * tiles * rest * kNibbleWords;
  return m;
}
constexpr ResidentShared resident_f32_shared(const Shape &s, uint32_t batch, uint32_t reg_groups) {
  ResidentShared m = {};
  const uint32_t groups = column_groups(s.k), rest = groups > reg_groups ? groups - reg_groups : 0, own = batch * s.units * 4;
  m.c = 2 * batch * groups * 64 * 4;
  m.h = m.c + own;
  m.z = m.h + own;
  m.weights = align_shared(m.z + own);
  const uint32_t rows = rows_of_warp(s.gates, s.units);
  for (uint32_t warp = 0; warp < kWarps; ++warp) m.bytes += used_pairs(s.gates, rows, s.units, warp);
  m.bytes = m.weights + rest * m.bytes * 512;
  return m;
}
// Of the step and the product kernel: one matrix's columns at a time, partial sums, the pre-activations of a step that takes its
// own input, what a byte of each column is worth, and gates that are finished before others. widest_k: of the wider of the two
// matrices.
struct StepShared {
  uint32_t input, partial, preact, steps, kept, bytes;
};
constexpr StepShared mma_step_shared(const Shape &s, uint32_t widest_k, uint32_t columns) {
  StepShared m = {};
  const uint32_t sums = columns * partial_stride(s) * 4;
  m.partial = align_shared(columns * column_stride(widest_k) * 2);
  m.preact = m.partial + kWarps * sums;
  m.steps = m.preact + sums;
  m.kept = m.steps + columns * 4;
  m.bytes = m.kept + sums;
  return m;
}

// Of the product of many rows: their columns, in whose place their sums come, and what a byte of each is worth.
constexpr uint32_t kMostWideColumns = 64, kLeastWideColumns = 16;
constexpr uint32_t kWideRows = kWarps * 16, kWideStride = kWideRows + 4;  // of a block; sums from column to column
constexpr uint32_t wide_steps(uint32_t k, uint32_t columns) {
  const uint32_t halves = columns * column_stride(k) * 2, sums = columns * kWideStride * 4;
  return align_shared(halves > sums ? halves : sums);
}
constexpr uint32_t wide_shared_bytes(uint32_t k, uint32_t columns) {
  return wide_steps(k, columns) + columns * 4;
}

// Of f32: sums of a lane, which say how many columns share a load of weights, and the floats of each that shared memory has at a
// time.
constexpr uint32_t kWideF32Sums = 128, kWideF32Floats = 16384;
// A block has as many columns as rows, so that neither is loaded more often: where warps have many rows, several have the same,
// each with columns of its own.
constexpr uint32_t kWideF32Columns = 32;
constexpr uint32_t wide_f32_pairs(uint32_t gates, uint32_t units) {
  const uint32_t pairs = pairs_of_warp(gates, rows_of_warp(gates, units));
  return pairs <= 2 ? 2 : pairs <= 4 ? 4 : 8;
}
constexpr uint32_t wide_f32_across(uint32_t pairs) {
  return kWideF32Columns * 2 * pairs / kWideF32Sums;
}
constexpr uint32_t wide_f32_stretch(uint32_t columns) {
  return kWideF32Floats / columns / 64 * 64;
}
constexpr uint32_t wide_f32_shared_bytes(uint32_t k, uint32_t columns) {
  const uint32_t stretch = wide_f32_stretch(columns), all = column_groups(k) * 64;
  return columns * (stretch < all ? stretch : all) * 4;
}

// Of the kernels of blocks: rows that are multiplied, the same as other bytes, what their bytes are worth, and sums.
struct BlocksShared {
  uint32_t input, second, steps, sums, bytes;
};
constexpr BlocksShared blocks_shared(Weights w, uint32_t k) {
  BlocksShared m = {};
  const uint32_t columns = align_shared(kBlockColumns * block_column_bytes(w, k));
  m.second = columns;
  m.steps = are_bytes(w) ? 2 * columns : columns;
  m.sums = m.steps + 2 * kBlockColumns * 4;
  m.bytes = m.sums + kBlockColumns * kThreads / 4 * 4;
  return m;
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_DEVICE_LAYOUT_H_
