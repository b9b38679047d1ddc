// prune.cpp -- Contract: prune.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/prune.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "compiler/onnx/problem.h"
#include "pack/panel_format.h"

namespace rnnp::compiler {
namespace {

// A matrix of a layer, [gates x units][k], and what it is stored as.
struct Weights {
  const char *name;
  std::vector<float> *w;
  Storage *storage;
  uint32_t gates, units, k;
};

std::vector<Weights> weights_of(Node *node) {
  std::vector<Weights> out;
  if (Recurrent *layer = layer_of(node)) {
    for (Direction &d : layer->directions) {
      out.push_back({"W", &d.w, &d.w_storage, gate_count(layer->cell), layer->hidden_size, layer->input_size});
      out.push_back({"R", &d.r, &d.r_storage, gate_count(layer->cell), layer->hidden_size, layer->hidden_size});
    }
  } else if (auto *dense = std::get_if<Dense>(&node->attr)) {
    if (dense->matrices == 1) out.push_back({"W", &dense->w, &dense->storage, 1, dense->output_size, dense->input_size});
  }
  return out;
}

// Of one block: places from `at`, `rows` rows of k beneath one another, `columns` of each.
bool is_small(const std::vector<float> &w, size_t at, size_t rows, size_t columns, size_t k, float threshold) {
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < columns; ++i) {
      if (!(std::fabs(w[at + row * k + i]) < threshold)) return false;
    }
  }
  return true;
}

size_t prune_matrix(const Weights &m, const Pruning &pruning) {
  const size_t width = pruning.height == 1 ? 1 : kBlockK;
  size_t count = 0;
  for (size_t row = 0; row < size_t{m.gates} * m.units;) {
    const size_t unit = row % m.units, rows = std::min<size_t>(pruning.height, m.units - unit);
    for (size_t first = 0; first < m.k; first += width) {
      const size_t columns = std::min(width, m.k - first), at = row * m.k + first;
      if (!is_small(*m.w, at, rows, columns, m.k, pruning.threshold)) continue;
      for (std::vector<float> *numbers : {m.w, &m.storage->rounded}) {
        if (numbers->empty()) continue;
        for (size_t r = 0; r < rows; ++r) std::fill_n(numbers->begin() + static_cast<std::ptrdiff_t>(at + r * m.k), columns, 0.0f);
      }
      count += rows * columns;
    }
    row += rows;
  }
  return count;
}

}  // namespace

Pruning pruning_named(const std::string &text) {
  const size_t colon = text.find(':');
  const std::string number = text.substr(0, colon), height = colon == std::string::npos ? "16" : text.substr(colon + 1);
  char *end = nullptr;
  const float threshold = std::strtof(number.c_str(), &end);
  const bool is_number = !number.empty() && *end == 0 && std::isfinite(threshold) && threshold > 0.0f;
  if (!is_number || (height != "16" && height != "8" && height != "4" && height != "1"))
    throw UsageError("--prune " + quote(text) +
                     "; accepted: a size above 0, as 0.05, and after it the units of a block: 0.05:16, "
                     "0.05:8 or 0.05:4; 0.05:1 is about single weights");
  return {threshold, static_cast<uint32_t>(std::atoi(height.c_str()))};
}

void prune(Graph *graph, const Pruning &pruning) {
  for (Node &node : graph->nodes) {
    for (const Weights &m : weights_of(&node)) {
      const size_t count = prune_matrix(m, pruning);
      if (count == 0) continue;
      char share[32];
      std::snprintf(share, sizeof share, "%.1f", 100.0 * static_cast<double>(count) / static_cast<double>(m.w->size()));
      graph->notes.push_back("warning: node " + quote(node.name) + ": " + share + " % of " + m.name + " are left out, " +
                             (pruning.height == 1 ? "small weights" : "in blocks of small weights") +
                             "; a network that was not trained to bear it loses much: "
                             "the table of its errors says how much");
    }
  }
}

}  // namespace rnnp::compiler
