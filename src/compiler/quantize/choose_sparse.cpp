// choose_sparse.cpp -- Contract: choose_sparse.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/choose_sparse.h"

#include <cmath>

#include "compiler/emit/panel_choice.h"
#include "compiler/onnx/problem.h"
#include "compiler/quantize/choose_storage.h"
#include "pack/pack.h"

namespace rnnp::compiler {
namespace {

constexpr uint32_t kPairIndexBytes = 32;

// What a byte of a form costs beside one of dense panels: the lower the blocks, the more there is to gather for a vector. Single
// weights are gathered one by one, whatever they are stored as, and dense bytes are multiplied four times as fast as floats: as
// AMD's CPUs gather, at a third of the rate of Intel's.
struct Form {
  uint8_t index_bytes;
  double of_floats, of_bytes;
};
constexpr Form kForms[] = {{2, 1.0, 1.0}, {4, 1.3, 1.3}, {8, 1.6, 1.6}, {kPairIndexBytes, 5.0, 14.0}};

bool is_asked(const Form &form, SparseRequest request) {
  return request == SparseRequest::kKeep || (form.index_bytes == kPairIndexBytes) == (request == SparseRequest::kEll);
}

struct Choice {
  uint32_t index_bytes;
  double cost;          // of dense panels: 1; of kEll bytes alone count
  std::string refusal;  // of kEll: why not
  bool too_dense = false;
};

Choice best_form(const MatrixRef &m, uint32_t gates, uint32_t units, uint32_t nr, SparseRequest request) {
  Choice best = {0, 1.0, "pairs are of f32 or int8, and in panels of 16 units"};
  if (m.storage->group_k != 0) return best;
  const PanelFormat dense = dense_panels(m.storage->type, nr);
  const MatrixSource source = {m.storage->rounded.empty() ? m.w->data() : m.storage->rounded.data(), units, m.k, 0, gates};
  Storage stored;
  stored.type = m.storage->type;
  for (const Form &form : kForms) {
    stored.index_bytes = form.index_bytes;
    const PanelFormat f = panels_of(stored, nr);
    if (!is_asked(form, request) || f.id == 0) continue;
    const uint64_t entries = count_entries(f, source);
    best.refusal = "it has more inputs than an index can name";
    if (entries == 0 || entries > UINT32_MAX || m.k / indexed_k(f) >= UINT16_MAX) continue;
    const MatrixShape all = {gates, units, m.k, m.k}, kept = {gates, units, m.k, static_cast<uint32_t>(entries)};
    const double bytes =
        static_cast<double>(panels_bytes(f, kept) + index_bytes(f, kept)) / static_cast<double>(panels_bytes(dense, all));
    const double of_byte = request == SparseRequest::kEll ? 1.0 : m.storage->type == DType::kI8 ? form.of_bytes : form.of_floats;
    best.too_dense = true;
    best.refusal = "pairs would be " + std::to_string(std::lround(bytes * 100)) + " % of its bytes";
    if (of_byte * bytes < best.cost) best.index_bytes = form.index_bytes, best.cost = of_byte * bytes;
  }
  return best;
}

std::string form_name(uint32_t index_bytes, uint32_t nr) {
  if (index_bytes == kPairIndexBytes) return "pairs of index and weight";
  return "blocks of " + std::to_string(nr * 2 / index_bytes) + " x " + std::to_string(kBlockK);
}

// Gates and units of a node's matrices; 0 units where they cannot be sparse.
void shape_of(const Node &node, uint32_t *gates, uint32_t *units) {
  *gates = 1;
  *units = 0;
  if (const Recurrent *layer = layer_of(node)) {
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

SparseRequest sparse_request(const std::string &name) {
  if (name.empty() || name == "keep") return SparseRequest::kKeep;
  if (name == "blocks") return SparseRequest::kBsr;
  if (name == "pairs") return SparseRequest::kEll;
  if (name == "off") return SparseRequest::kOff;
  throw UsageError("unknown sparse form " + quote(name) + "; accepted: keep, blocks, pairs, off");
}

namespace {

Choice choose_form(const MatrixRef &m, uint32_t gates, uint32_t units, uint32_t nr, SparseRequest request) {
  if (m.storage->fixed) return {0, 1.0, "integer-only layers have no sparse panels"};
  if (m.storage->rounds_lhs) return {0, 1.0, "products of bf16 have no sparse panels"};
  if (m.storage->diagonal) return {0, 1.0, "its diagonal is stored apart"};
  if (!every_gate_has_some(m, gates)) return {0, 1.0, "a gate of it holds nothing but zeros"};
  return best_form(m, gates, units, nr, request);
}

// Both directions of a layer are stored alike.
bool same_quantization(const Node &node, Storage Direction::*storage) {
  const Recurrent *layer = layer_of(node);
  if (layer == nullptr) return true;
  return (layer->directions.front().*storage).index_bytes == (layer->directions.back().*storage).index_bytes;
}
void store_in_full(Graph *graph, Node *node, const char *name, Storage Direction::*storage) {
  for (Direction &d : layer_of(node)->directions) (d.*storage).index_bytes = 0;
  graph->notes.push_back("node " + quote(node->name) + ": " + name +
                         " is stored in full after all: what suits one direction does not suit the other");
}

}  // namespace

void choose_sparse(Graph *graph, SparseRequest request, uint32_t nr) {
  constexpr double kFarCheaper = 0.5;
  if (request == SparseRequest::kOff) return;
  for (Node &node : graph->nodes) {
    uint32_t gates = 0, units = 0;
    shape_of(node, &gates, &units);
    if (units == 0) continue;
    const std::vector<MatrixRef> all = matrices_of(&node);
    for (const MatrixRef &m : all) {
      const Choice choice = choose_form(m, gates, units, nr, request);
      const std::string what = "node " + quote(node.name) + ": " + m.name;
      if (choice.cost < (request == SparseRequest::kKeep ? kFarCheaper : 1.0)) {
        m.storage->index_bytes = static_cast<uint8_t>(choice.index_bytes);
        graph->notes.push_back(what + " is stored as " + form_name(choice.index_bytes, nr) + ", " +
                               std::to_string(std::lround(choice.cost * 100)) +
                               (request == SparseRequest::kEll ? " % of the bytes of all of it" : " % of what all of it costs"));
      } else if (request == SparseRequest::kEll) {
        graph->notes.push_back((choice.too_dense ? "" : "warning: ") + what + " is stored in full: " + choice.refusal);
      }
    }
    if (!same_quantization(node, &Direction::w_storage)) store_in_full(graph, &node, "W", &Direction::w_storage);
    if (!same_quantization(node, &Direction::r_storage)) store_in_full(graph, &node, "R", &Direction::r_storage);
  }
}

}  // namespace rnnp::compiler
