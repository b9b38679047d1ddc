// panel_format.h -- what panels of weights look like: the table of panel_formats.inc, and sizes that follow from a row of it.
// Shared by the packer (host), the blob's reader and the operators (device). Touches nothing.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_PANEL_FORMAT_H_
#define RNNPACK_PACK_PANEL_FORMAT_H_

#include "base/checked.h"
#include "base/dtype.h"
#include "pack/layout.h"

namespace rnnp {

// How stored weights become numbers: as they are, times a scale of their unit and gate, or of their unit, gate and group of k.
// Fixed: of integer-only layers, whose sums become integers by a multiplier and shifts of their unit and gate. Smlad, in runs:
// per unit, for the products that small CPUs have; one gate lies behind the other, and two neighbours of a smlad unit, at an even k
// and behind it, are the halves of a number of 16 bits, low + 256 high.
enum class Scales : uint8_t { kUnscaled, kPerUnit, kPerGroup, kIntegerOnly, kSmlad, kKMajor16 };

struct PanelFormat {
  uint16_t id;
  DType weight : 8;  // as stored
  DType factor : 8;  // what rows of x and h are multiplied as
  uint8_t nr;        // units side by side; 0: all of the matrix, in one panel without padding
  uint8_t kr;        // consecutive k of a unit that lie together
  Scales scales;
  // 0: dense, every k has its place. Else blocks of kBlockK k of some units, or pairs, single weights: an entry is NR units wide,
  // and for each block or weight in it two bytes say which k it holds.
  uint8_t index_bytes;
};

inline constexpr PanelFormat kPanelFormats[] = {
#define RNNPACK_PANEL_FORMAT(name, id, weight, factor, nr, kr, scales, index_bytes, pack, gemm) \
  {id, DType::weight, DType::factor, nr, kr, Scales::scales, index_bytes},
#include "pack/panel_formats.inc"
#undef RNNPACK_PANEL_FORMAT
};

constexpr bool ids_are_apart() {
  for (const PanelFormat &a : kPanelFormats) {
    for (const PanelFormat &b : kPanelFormats) {
      if (&a != &b && a.id == b.id) return false;
    }
    if (a.id == 0) return false;
  }
  return true;
}
static_assert(ids_are_apart(), "each row of panel_formats.inc has an id of its own, and none is 0");

constexpr uint32_t most_id() {
  uint32_t most = 0;
  for (const PanelFormat &f : kPanelFormats) most = f.id > most ? f.id : most;
  return most;
}
constexpr uint32_t kMostFormatId = most_id();

// Its id is 0 when this build knows none.
constexpr PanelFormat find_panel_format(uint32_t format_id) {
  for (const PanelFormat &f : kPanelFormats) {
    if (f.id == format_id) return f;
  }
  return {};
}

constexpr bool operator==(const PanelFormat &a, const PanelFormat &b) {
  return a.id == b.id;
}
constexpr bool operator!=(const PanelFormat &a, const PanelFormat &b) {
  return a.id != b.id;
}

// Neighbouring k of a block of a sparse matrix.
constexpr uint32_t kBlockK = 4;

constexpr bool is_sparse(const PanelFormat &f) {
  return f.index_bytes != 0;
}

// Single weights, each with its k.
constexpr bool is_ell(const PanelFormat &f) {
  return is_sparse(f) && f.index_bytes == 2 * f.nr;
}
// The neighbouring k that an index of a sparse matrix stands for.
constexpr uint32_t indexed_k(const PanelFormat &f) {
  return is_ell(f) ? 1 : kBlockK;
}

// Of integer-only layers: bytes in, integers out.
constexpr bool is_fixed_point(const PanelFormat &f) {
  return f.scales == Scales::kIntegerOnly;
}

// Whether a panel has one gate behind the other, not KR consecutive k of all gates side by side.
constexpr bool gates_are_apart(const PanelFormat &f) {
  return f.scales == Scales::kSmlad || f.scales == Scales::kKMajor16;
}

struct MatrixShape {
  uint32_t gates, units, k;
  uint32_t entries;  // sparse: of all panels and gates; dense: k
};

// Which of a dense matrix's stored weights is that of a gate, unit and k.
inline size_t place_in_panels(const PanelFormat &f, const MatrixShape &s, uint32_t gate, uint32_t unit, uint32_t k) {
  const size_t width = f.nr == 0 ? s.units : f.nr, groups = (size_t{s.k} + f.kr - 1) / f.kr, tile = unit / width;
  const size_t group =
      gates_are_apart(f) ? (tile * s.gates + gate) * groups + k / f.kr : (tile * groups + k / f.kr) * s.gates + gate;
  return (group * width + unit % width) * f.kr + k % f.kr;
}

// The weights of a smlad number.
constexpr int32_t low_of_smlad(uint8_t low) {
  return static_cast<int8_t>(low);
}
constexpr int32_t high_of_smlad(uint8_t low, uint8_t high) {
  return static_cast<int8_t>(high) + (low_of_smlad(low) < 0);
}

// Units of all panels, those that pad the last one included.
inline size_t padded_units(const PanelFormat &f, uint32_t units) {
  return f.nr == 0 ? units : mul_sat(tile_count(units, f.nr), f.nr);
}
constexpr uint32_t panel_count(const PanelFormat &f, uint32_t units) {
  return f.nr == 0 ? 1 : tile_count(units, f.nr);
}

// Bytes of all panels of one matrix, of one number for each unit and gate beside them (a vector), of its scales and of its index;
// kSizeOverflow where they do not fit.
inline size_t vector_bytes(const PanelFormat &f, const MatrixShape &s) {
  return mul_sat(mul_sat(padded_units(f, s.units), s.gates), sizeof(float));
}
inline size_t panels_bytes(const PanelFormat &f, const MatrixShape &s) {
  if (is_sparse(f)) return mul_sat(size_t{s.entries}, size_t{f.nr} * indexed_k(f) * dtype_bits(f.weight) / 8);
  const size_t places = mul_sat(s.entries / f.kr + (s.entries % f.kr != 0), f.kr);
  const size_t weights = mul_sat(mul_sat(padded_units(f, s.units), s.gates), places);
  const uint32_t bits = dtype_bits(f.weight);
  if (bits >= 8) return mul_sat(weights, bits / 8);
  return weights == kSizeOverflow ? kSizeOverflow : weights / 2 + weights % 2;
}
inline size_t scales_bytes(const PanelFormat &f, const MatrixShape &s, uint32_t group_k) {
  const uint32_t groups = group_k == 0 ? 1 : s.k / group_k + (s.k % group_k != 0);
  return mul_sat(vector_bytes(f, s), groups);
}

// Groups of k are a multiple of this.
constexpr uint32_t kLeastGroup = 32;

// What a product needs to quantise its rows in, of a thread: some of the rows at a time, each with its scale.
constexpr uint32_t kQuantisedRows = 32;
// Its bytes, what one of them is worth, and for weights of groups of k the sum of each group.
inline size_t quantised_row_bytes(bool in_groups, uint32_t k) {
  const size_t sums = in_groups ? align_up(k / kLeastGroup + 1, 16) * sizeof(int32_t) : 0;
  return add_sat(add_sat(align_up(k, 64), 64), sums);
}
inline size_t lhs_scratch_bytes(const PanelFormat &f, uint32_t k, size_t rows) {
  if (is_fixed_point(f)) return align_up(mul_sat(size_t{k} + 1, sizeof(int32_t)), 64);  // a row at a time, in words
  // Small cores quantise one row at a time, into 16 bits where they multiply these.
  if (f.factor == DType::kI8 && f.nr == 4) return add_sat(align_up(mul_sat(k, 2), 16), 16);
  // Rows of rounded floats with zeros up to a whole block; small cores round where they multiply.
  if (f.factor == DType::kBf16) {
    return f.nr == 4 ? 0 : mul_sat(mul_sat(align_up(size_t{k}, 32), sizeof(float)), rows < kQuantisedRows ? rows : kQuantisedRows);
  }
  // Rows of floats with zeros behind them, for blocks that reach beyond K and those that fill up an entry.
  const size_t float_row = is_sparse(f) ? mul_sat(align_up(size_t{k} + 2 * kBlockK, 16), sizeof(float)) : 0;
  return mul_sat(f.factor == DType::kI8 ? quantised_row_bytes(f.scales == Scales::kPerGroup, k) : float_row,
                 rows < kQuantisedRows ? rows : kQuantisedRows);
}
// A u32 for each panel and gate, and one more: where its entries begin; then the blocks' k of every entry.
inline size_t sparse_columns(const PanelFormat &f, const MatrixShape &s) {
  return mul_sat(size_t{panel_count(f, s.units)}, s.gates);
}
inline size_t index_bytes(const PanelFormat &f, const MatrixShape &s) {
  if (!is_sparse(f)) return 0;
  const size_t first = mul_sat(add_sat(sparse_columns(f, s), 1), sizeof(uint32_t));
  return add_sat(first, mul_sat(size_t{s.entries}, f.index_bytes));
}

}  // namespace rnnp
#endif  // RNNPACK_PACK_PANEL_FORMAT_H_
