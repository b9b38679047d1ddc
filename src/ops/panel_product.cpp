// panel_product.cpp -- Contract: panel_product.h. SPDX-License-Identifier: Apache-2.0
#include "ops/panel_product.h"

namespace rnnp {

void set_panels(GemmArgs *g, const Matrix &m, size_t i) {
  const size_t vector = i * (vector_bytes(m.format, m.shape) / sizeof(float));
  g->panels = m.panels + i * panels_bytes(m.format, m.shape);
  g->scales = m.scales == nullptr ? nullptr : m.scales + i * (scales_bytes(m.format, m.shape, m.group_k) / sizeof(float));
  g->unit_sums = m.unit_sums == nullptr ? nullptr : m.unit_sums + vector;
  g->diagonal = m.diagonal == nullptr ? nullptr : m.diagonal + vector;
}

size_t product_scratch_bytes(const Matrix &m, uint32_t k, size_t rows) {
  return lhs_scratch_bytes(m.format, k, rows);
}

}  // namespace rnnp
