// panel_product.cpp -- Contract: panel_product.h. SPDX-License-Identifier: Apache-2.0
#include "ops/panel_product.h"

namespace rnnp {

void set_panels(PanelView *w, const Matrix &m, size_t i) {
  const size_t vector = i * (vector_bytes(m.format, m.shape) / sizeof(float));
  w->panels = m.panels + i * panels_bytes(m.format, m.shape);
  w->scales = m.scales == nullptr ? nullptr : m.scales + i * (scales_bytes(m.format, m.shape, m.group_k) / sizeof(float));
  w->unit_sums = m.unit_sums == nullptr ? nullptr : m.unit_sums + vector;
  w->diagonal = m.diagonal == nullptr ? nullptr : m.diagonal + vector;
}

size_t product_scratch_bytes(const PanelFormat &format, uint32_t k, size_t rows) {
  return lhs_scratch_bytes(format, k, rows);
}

rnnp_status find_product(const BuildEnv &env, const Matrix &m, uint32_t bias, const BlobActivation &how, uint32_t units,
                         PanelProduct *product) {
  const Kernel *gemm = find_gemm(env, m.format, 1);
  const bool activated = how.act != uint32_t(Act::kIdentity);
  const Kernel *act = activated ? find_act(env, how) : nullptr;
  if (gemm == nullptr || (activated && act == nullptr)) return RNNP_E_LAYOUT;
  set_product(&product->gemm, m);
  product->gemm.start = env.model->weights_or_none(bias);
  product->gemm.units = units;
  product->run = gemm->gemm;
  product->act = act ? act->act : nullptr;
  product->bias_elems = vector_bytes(m.format, m.shape) / sizeof(float);
  product->tiles = panel_count(m.format, units);
  product->nr = m.format.nr;
  return RNNP_OK;
}

void activate_product(ActFn act, const BlobActivation &how, const GemmArgs &g, uint32_t nr) {
  const uint32_t begin = g.tile_begin * nr, end = g.tile_end * nr < g.units ? g.tile_end * nr : g.units;
  const bool solid = begin == 0 && end == g.units && g.out_row_bytes == g.units * sizeof(float);
  const uint32_t runs = solid ? 1 : g.rows;
  const size_t elems = solid ? size_t{g.rows} * g.units : end - begin;
  for (uint32_t i = 0; i < runs; ++i) {
    float *y = view_as<float>(reinterpret_cast<uint8_t *>(g.out) + i * g.out_row_bytes) + begin;
    const ActArgs args = {y, y, elems, how};
    act(&args);
  }
}

}  // namespace rnnp
