// panel_product.h -- a matrix of the blob as an operand of the gemm kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_PANEL_PRODUCT_H_
#define RNNPACK_OPS_PANEL_PRODUCT_H_

#include "ops/op.h"

namespace rnnp {

// Matrix i of a matrix's count.
void set_panels(PanelView *w, const Matrix &m, size_t i);

// GemmArgs::scratch of so many rows of k factors.
size_t product_scratch_bytes(const PanelFormat &format, uint32_t k, size_t rows);

// The activation of what a product has made, of panels of NR units.
void activate_product(ActFn act, const BlobActivation &how, const GemmArgs &made, uint32_t nr);

// A product with the first matrix; where rows come from and go to is left open.
inline void set_product(GemmArgs *g, const Matrix &m) {
  *g = {};
  PanelView &w = g->w;
  w.panels = m.panels;
  w.scales = m.scales;
  w.unit_sums = m.unit_sums;
  w.diagonal = m.diagonal;
  w.k = m.shape.k;
  w.group_k = m.group_k;
  w.lhs_scale = m.lhs_scale;
  w.index_bytes = m.format.index_bytes;
  w.gates = static_cast<uint8_t>(m.shape.gates);
  if (is_sparse(m.format)) {
    w.first = view_as<uint32_t>(m.index);
    w.quads = view_as<uint16_t>(w.first + sparse_columns(m.format, m.shape) + 1);
  }
}

// What a layer of one product and an activation keeps of them.
struct PanelProduct {
  GemmArgs gemm;  // with the first matrix; where rows come from and go to, and their tiles, are set per call
  GemmFn run;
  ActFn act;          // nullptr: none
  size_t bias_elems;  // from matrix to matrix
  uint32_t tiles, nr;
};

// RNNP_E_LAYOUT: the machine has no kernel for the matrix or the activation.
rnnp_status find_product(const BuildEnv &env, const Matrix &m, uint32_t bias, const BlobActivation &how, uint32_t units,
                         PanelProduct *product);

}  // namespace rnnp
#endif  // RNNPACK_OPS_PANEL_PRODUCT_H_
