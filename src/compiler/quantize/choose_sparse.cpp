// choose_sparse.cpp -- Contract: choose_sparse.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/choose_sparse.h"

#include <cmath>

#include "compiler/emit/panel_choice.h"
#include "compiler/onnx/problem.h"
#include "compiler/quantize/choose_storage.h"
#include "pack/pack.h"

namespace rnnp::compiler {
namespace {

// What a byte of blocks costs beside one of dense panels: the lower the blocks, the more there is to gather for a vector.
struct Height {
  uint32_t index_bytes;
  double cost;
};
constexpr Height kHeights[] = {{2, 1.0}, {4, 1.3}, {8, 1.6}};

struct Choice {
  uint32_t index_bytes;
  double cost;  // of dense panels: 1
};

Choice best_blocks(const MatrixRef &m, uint32_t gates, uint32_t units, uint32_t nr) {
  Choice best = {0, 1.0};
  const PanelFormat dense = dense_panels(m.storage->type, nr);
  const MatrixSource source = {m.storage->rounded.empty() ? m.w->data() : m.storage->rounded.data(), units, m.k, 0, gates};
  for (const Height &height : kHeights) {
    const PanelFormat f = sparse_panels(m.storage->type, nr, height.index_bytes);
    if (f.id == 0) continue;
    const uint64_t entries = count_entries(f, source);
    if (entries == 0 || entries > UINT32_MAX || m.k / kBlockK >= UINT16_MAX) continue;
    const MatrixShape all = {gates, units, m.k, m.k}, kept = {gates, units, m.k, static_cast<uint32_t>(entries)};
    const double bytes = static_cast<double>(panels_bytes(f, kept) + index_bytes(f, kept));
    const double cost = height.cost * bytes / static_cast<double>(panels_bytes(dense, all));
    if (cost < best.cost) best = {height.index_bytes, cost};
  }
  return best;
}

// Gates and units of a node's matrices; 0 units where they cannot be sparse.
void shape_of(const Node &node, uint32_t *gates, uint32_t *units) {
  *gates = 1;
  *units = 0;
  if (const auto *layer = std::get_if<Recurrent>(&node.attr)) {
    *gates = gate_count(layer->cell);
    *units = layer->hidden_size;
  } else if (const auto *dense = std::get_if<Dense>(&node.attr)) {
    *units = dense->matrices == 1 ? dense->output_size : 0;
  }
}

// A part of R that holds nothing has no blocks, and R of some cells is stored in parts.
bool every_gate_has_some(const MatrixRef &m, uint32_t gates) {
  const std::vector<float> &w = *m.w;
  for (uint32_t g = 0; g < gates; ++g) {
    bool any = false;
    for (size_t i = w.size() / gates * g; i < w.size() / gates * (g + 1); ++i) any = any || w[i] != 0.0f;
    if (!any) return false;
  }
  return true;
}

}  // namespace

SparseWish sparse_wish(const std::string &name) {
  if (name.empty() || name == "keep") return SparseWish::kKeep;
  if (name == "blocks") return SparseWish::kBlocks;
  if (name == "off") return SparseWish::kOff;
  throw UsageError("unknown sparse form " + quote(name) + "; accepted: keep, blocks, off");
}

void choose_sparse(Graph *graph, SparseWish wish, uint32_t nr) {
  constexpr double kFarCheaper = 0.5;
  if (wish == SparseWish::kOff) return;
  for (Node &node : graph->nodes) {
    uint32_t gates = 0, units = 0;
    shape_of(node, &gates, &units);
    if (units == 0) continue;
    const std::vector<MatrixRef> all = matrices_of(&node);
    for (const MatrixRef &m : all) {
      if (m.storage->diagonal || m.storage->fixed || !every_gate_has_some(m, gates)) continue;
      const Choice choice = best_blocks(m, gates, units, nr);
      if (choice.cost >= (wish == SparseWish::kKeep ? kFarCheaper : 1.0)) continue;
      m.storage->index_bytes = static_cast<uint8_t>(choice.index_bytes);
      graph->notes.push_back("node " + quote(node.name) + ": " + m.name + " is stored as blocks of " +
                             std::to_string(nr * 2 / choice.index_bytes) + " x " + std::to_string(kBlockK) + ", " +
                             std::to_string(std::lround(choice.cost * 100)) + " % of what all of it costs");
    }
    if (auto *layer = std::get_if<Recurrent>(&node.attr)) {
      Direction &first = layer->directions.front(), &last = layer->directions.back();
      if (first.w_storage.index_bytes != last.w_storage.index_bytes) first.w_storage.index_bytes = last.w_storage.index_bytes = 0;
      if (first.r_storage.index_bytes != last.r_storage.index_bytes) first.r_storage.index_bytes = last.r_storage.index_bytes = 0;
    }
  }
}

}  // namespace rnnp::compiler
