// matrix.h -- the rules of the blob's matrices. A format's row alone says what a matrix of it must have and must not.
// Inline, so that a reader of a few formats carries no rules of the others. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_MATRIX_H_
#define RNNPACK_FORMAT_MATRIX_H_

#include "base/bytes.h"
#include "format/blob.h"
#include "pack/panel_format.h"

// Inlined even where code is to be small: what a format does not have is then known when this is compiled.
#define RNNPACK_FOLDED __attribute__((always_inline)) inline

namespace rnnp {

// A part of a matrix, `bytes` for each of `count`: aligned, and within the weights.
inline bool part_fits(uint32_t offset, size_t bytes, uint32_t count, uint32_t weights_bytes) {
  return offset % kBlobAlign == 0 && range_fits(size_t{offset}, mul_sat(bytes, count), size_t{weights_bytes});
}

// A part that only some formats have: there when it is wanted, else absent.
RNNPACK_FOLDED bool has_part(bool wanted, uint32_t offset, size_t bytes, const BlobMatrix &m, uint32_t weights_bytes) {
  return wanted ? part_fits(offset, bytes, m.count, weights_bytes) : offset == kNone;
}

RNNPACK_FOLDED bool scales_fit(const PanelFormat &f, const BlobMatrix &m, const MatrixShape &shape, uint32_t weights_bytes) {
  if ((f.scales == Scales::kPerGroup) != (m.group_k != 0) || m.group_k % kLeastGroup != 0) return false;
  return has_part(f.scales != Scales::kUnscaled, m.scales, scales_bytes(f, shape, m.group_k), m, weights_bytes);
}

// What x or h are quantised by, with zero as zero. CPUs that multiply int8 without a sign need the sums of what is stored with
// one.
RNNPACK_FOLDED bool factor_fits(const PanelFormat &f, const BlobMatrix &m, const MatrixShape &shape, uint32_t weights_bytes) {
  const bool quantised = f.factor == DType::kI8;
  if (!quantised && !is_fixed_point(f) && (m.lhs_scale != 0 || m.lhs_zero_point != 0)) return false;
  if (!(m.lhs_scale >= 0) || m.lhs_scale - m.lhs_scale != 0 || m.lhs_zero_point != 0) return false;
  return has_part(quantised && f.scales == Scales::kPerUnit, m.unit_sums, vector_bytes(f, shape), m, weights_bytes);
}

inline bool reserved_are_zero(const BlobMatrix &m) {
  uint32_t any = 0;
  for (const uint32_t word : m.reserved) any |= word;
  return any == 0;
}

// True when everything about a matrix of `format` follows docs/BLOB_FORMAT.md and lies in a weights section of so many bytes.
RNNPACK_FOLDED bool matrix_fits(const PanelFormat &f, const BlobMatrix &m, uint32_t weights_bytes) {
  constexpr uint32_t kMostGates = 4;
  const MatrixShape shape = {m.gates, m.units, m.k, m.entries};
  if (m.count == 0 || m.gates == 0 || m.gates > kMostGates || m.units == 0 || m.k == 0 || !reserved_are_zero(m)) return false;
  const bool sparse = is_sparse(f);
  if (m.tile_first != kNone || (sparse ? m.entries == 0 || m.count != 1 : m.entries != m.k)) return false;
  if (!part_fits(m.panels, panels_bytes(f, shape), m.count, weights_bytes)) return false;
  if (!has_part(sparse, m.index, index_bytes(f, shape), m, weights_bytes)) return false;
  const bool diagonal = f.scales != Scales::kUnscaled && !is_fixed_point(f) && m.diagonal != kNone;
  return scales_fit(f, m, shape, weights_bytes) && factor_fits(f, m, shape, weights_bytes) &&
         has_part(diagonal, m.diagonal, vector_bytes(f, shape), m, weights_bytes);
}

// Of a sparse matrix that fits: whether its index names entries and k that there are. A block behind K is one of zeros that fills
// up.
inline bool index_fits(const PanelFormat &f, const BlobMatrix &m, const uint8_t *weights) {
  const size_t columns = sparse_columns(f, {m.gates, m.units, m.k, m.entries});
  const uint32_t *first = view_as<uint32_t>(weights + m.index);
  const uint16_t *quads = view_as<uint16_t>(first + columns + 1);
  if (first[0] != 0 || first[columns] != m.entries) return false;
  for (size_t i = 0; i < columns; ++i) {
    if (first[i] > first[i + 1]) return false;
  }
  const uint32_t behind = (m.k - 1) / indexed_k(f) + 1;
  for (size_t i = 0; i < size_t{m.entries} * f.index_bytes / 2; ++i) {
    if (quads[i] > behind) return false;
  }
  return true;
}

}  // namespace rnnp

#undef RNNPACK_FOLDED
#endif  // RNNPACK_FORMAT_MATRIX_H_
