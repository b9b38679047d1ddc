// matrix.cpp -- the blob's matrices: checked when it is opened (matrix.h), and found by index. Contract: model.h.
// SPDX-License-Identifier: Apache-2.0
#include "format/matrix.h"

#include "format/model.h"

namespace rnnp {
namespace {

constexpr bool any(bool (*is)(const PanelFormat &)) {
  for (const PanelFormat &f : kPanelFormats) {
    if (is(f)) return true;
  }
  return false;
}
constexpr bool is_scaled(const PanelFormat &f) {
  return f.scales != Scales::kUnscaled;
}
constexpr bool is_indexed(const PanelFormat &f) {
  return f.index_bytes != 0;
}
constexpr bool is_not_f32(const PanelFormat &f) {
  return f.weight != DType::kF32 || f.factor != DType::kF32 || f.kr != 1;
}

// What no row of the table has need not be looked for.
constexpr bool kAnyScales = any(is_scaled), kAnyIndex = any(is_indexed), kAllF32 = !any(is_not_f32);

}  // namespace

PanelFormat format_of(uint32_t id) {
  return find_panel_format(id);
}

rnnp_status check_matrix(const BlobMatrix &m, const uint8_t *weights, uint32_t weights_bytes) {
  PanelFormat f = format_of(m.format);
  if (f.id == 0) return RNNP_E_LAYOUT;
  if (!kAnyScales) f.scales = Scales::kUnscaled;
  if (!kAnyIndex) f.index_bytes = 0;
  if (kAllF32) f.weight = f.factor = DType::kF32, f.kr = 1;
  if (!matrix_fits(f, m, weights_bytes)) return RNNP_E_BLOB_CORRUPT;
  return !kAnyIndex || !is_sparse(f) || index_fits(f, m, weights) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

bool Model::has_matrix(uint32_t i, uint32_t gates, uint32_t units, uint32_t k, uint32_t count) const {
  if (i >= matrices.count) return false;
  const BlobMatrix &b = matrices[i];
  return b.gates == gates && b.units == units && b.k == k && b.count == count;
}

Matrix Model::matrix(uint32_t i) const {
  const BlobMatrix &b = matrices[i];
  const uint8_t *panels = blob + header->weights.offset + b.panels;
  Matrix m = {format_of(b.format), {b.gates, b.units, b.k, b.entries}, b.count, panels, nullptr, nullptr, nullptr, nullptr, 0, 0};
  if (kAnyIndex && b.index != kNone) m.index = blob + header->weights.offset + b.index;
  if (kAnyScales) {
    m.scales = weights_or_none(b.scales);
    m.unit_sums = static_cast<const int32_t *>(static_cast<const void *>(weights_or_none(b.unit_sums)));
    m.diagonal = weights_or_none(b.diagonal);
    m.group_k = b.group_k;
    m.lhs_scale = b.lhs_scale;
  }
  return m;
}

bool Model::vector_fits(uint32_t offset, const Matrix &matrix, uint32_t gates) const {
  const size_t bytes = mul_sat(vector_bytes(matrix.format, {gates, matrix.shape.units, 0, 0}), matrix.count);
  return weights_fit(offset, bytes / sizeof(float));
}

}  // namespace rnnp
