// choose_storage.cpp -- Contract: choose_storage.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/choose_storage.h"

#include <algorithm>
#include <cmath>

#include "compiler/emit/panel_choice.h"
#include "compiler/ir/value_range.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Of numbers from -1 to 1.
constexpr float kUnitScale = 1.0f / 127.0f;

bool h_is_given(const Node &node) {
  return node.in.size() > 1 && node.in[1] != kNone;
}

bool is_bounded_act(const BlobActivation &a) {
  return a.act == static_cast<uint32_t>(Act::kTanh) || a.act == static_cast<uint32_t>(Act::kSigmoid);
}

// Which values hold numbers from -1 to 1 alone: results of tanh and sigmoid, and h of cells that end in them.
std::vector<bool> bounded_values(const Graph &graph) {
  std::vector<bool> bounded(graph.values.size(), false);
  for (const Node &node : graph.nodes) {
    bool is = false;
    if (const auto *unary = std::get_if<AttrUnary>(&node.attr)) is = is_bounded_act(unary->act);
    if (const auto *dense = std::get_if<Dense>(&node.attr)) is = is_bounded_act(dense->act);
    if (const auto *conv = std::get_if<Conv>(&node.attr)) is = is_bounded_act(conv->shape.act);
    if (const Recurrent *layer = layer_of(node)) {
      is = std::all_of(layer->directions.begin(), layer->directions.end(),
                       [&](const Direction &d) { return h_is_bounded(*layer, d, h_is_given(node)); });
    }
    if (!node.out.empty() && node.out[0] != kNone) bounded[node.out[0]] = is;
  }
  return bounded;
}

class Chooser {
 public:
  Chooser(Graph *graph, const StorageRequest &request) : graph_(graph), request_(request) {}

  void run() {
    check_names();
    for (Node &node : graph_->nodes) {
      const bool keeps_float =
          std::find(request_.keep_float.begin(), request_.keep_float.end(), node.name) != request_.keep_float.end();
      for (const MatrixRef &m : matrices_of(&node)) choose(node, m, keeps_float);
      if (Recurrent *layer = layer_of(&node)) settle(node.name, layer);
    }
    set_known_lhs_scales(graph_);
    if (!kept_.empty()) graph_->notes.push_back("the file's own " + kept_ + " are kept; --weights TYPE asks for others");
  }

 private:
  void check_names() const {
    for (const std::string &name : request_.keep_float) {
      std::string names;
      bool known = false;
      for (Node &node : graph_->nodes) {
        if (matrices_of(&node).empty()) continue;
        known = known || node.name == name;
        names += (names.empty() ? "" : ", ") + quote(node.name);
      }
      if (!known) throw UsageError("no node " + quote(name) + " has weights that could be stored otherwise; accepted: " + names);
    }
  }

  void choose(const Node &node, const MatrixRef &m, bool keeps_float) {
    Storage &s = *m.storage;
    std::optional<WeightType> asked = m.recurrent && request_.recurrent ? request_.recurrent : request_.weights;
    if (keeps_float) asked = {DType::kF32, 0};
    const float lhs_scale = s.lhs_scale;
    const bool fits_panels = s.group_k != 0 && s.group_k % kLeastGroup == 0;
    if (asked && !holds(asked->type, s)) s = Storage();
    if (asked && asked->group_k != 0 && (s.scales.empty() || !fits_panels)) {
      s = Storage();
      s.group_k = asked->group_k;
      if (asked->full_range) s.scales = full_range_scales(*m.w, m.k, s.group_k);
    }
    if (!asked && s.type == DType::kI4 && s.group_k != 0 && !fits_panels) {
      graph_->notes.push_back("node " + quote(node.name) + ": " + m.name + " has four-bit integers with a scale for every " +
                              std::to_string(s.group_k) + " inputs, which no panels hold: it is stored as f32");
      s = Storage();
    }
    s.type = asked ? asked->type : s.type == DType::kI4 && !fits_panels ? DType::kI8 : s.type;
    s.lhs_scale = is_quantised(s.type) ? lhs_scale : 0.0f;
    s.rounds_lhs = request_.rounds_lhs && s.type == DType::kBf16;
    if (s.moved_rows != 0)
      graph_->notes.push_back("node " + quote(node.name) + ": " + std::to_string(s.moved_rows) + " of " +
                              std::to_string(s.scales.size()) + " rows of " + m.name +
                              " have integers that panels of int8 do not hold (beyond 127, or neighbours that add up to more than "
                              "129): they are moved or rounded anew, whichever errs less");
    if (!asked && s.type != DType::kF32) note_kept(s);
  }

  // As GGUF's Q4_0: a scale may be negative.
  static std::vector<float> full_range_scales(const std::vector<float> &w, uint32_t k, uint32_t group_k) {
    std::vector<float> scales;
    for (size_t row = 0; row < w.size(); row += k) {
      for (uint32_t first = 0; first < k; first += group_k) {
        float most = 0;
        for (uint32_t i = first; i < std::min(k, first + group_k); ++i) {
          if (std::fabs(w[row + i]) > std::fabs(most)) most = w[row + i];
        }
        scales.push_back(most / -8);
      }
    }
    return scales;
  }

  // Integers of four bits with one scale a row are integers of eight as well.
  static bool holds(DType type, const Storage &s) {
    return type == s.type || (type == DType::kI8 && s.type == DType::kI4 && s.group_k == 0);
  }

  void note_kept(const Storage &s) {
    const std::string name = weight_type_name({s.type, s.group_k}) + (s.scales.empty() ? " weights" : " weights and their scales");
    if (kept_.find(name) == std::string::npos) kept_ += (kept_.empty() ? "" : ", ") + name;
  }

  // W of both directions has one format, and so has R.
  void settle(const std::string &name, Recurrent *layer) const {
    for (Storage Direction::*part : {&Direction::w_storage, &Direction::r_storage}) {
      Storage &first = layer->directions.front().*part, &last = layer->directions.back().*part;
      if (first.type == last.type) continue;
      first = last = Storage();
      graph_->notes.push_back("node " + quote(name) + ": " + (part == &Direction::w_storage ? "W" : "R") +
                              " is of two types in its two directions: both are stored as f32");
    }
  }

  Graph *graph_;
  const StorageRequest &request_;
  std::string kept_;
};

}  // namespace

std::vector<MatrixRef> matrices_of(Node *node) {
  std::vector<MatrixRef> out;
  if (Recurrent *layer = layer_of(node)) {
    for (Direction &d : layer->directions) {
      out.push_back({"W", &d.w, &d.w_storage, layer->input_size, 1, false});
      out.push_back({"R", &d.r, &d.r_storage, layer->hidden_size, 1, true});
    }
  } else if (auto *dense = std::get_if<Dense>(&node->attr)) {
    out.push_back({"W", &dense->w, &dense->storage, dense->input_size, dense->matrices, false});
  } else if (auto *conv = std::get_if<Conv>(&node->attr)) {
    if (!conv->is_depthwise()) out.push_back({"W", &conv->w, &conv->storage, conv->depth(), conv->shape.groups, false});
  }
  return out;
}

void set_known_lhs_scales(Graph *graph) {
  const std::vector<bool> bounded = bounded_values(*graph);
  for (Node &node : graph->nodes) {
    Recurrent *layer = layer_of(&node);
    for (const MatrixRef &m : matrices_of(&node)) {
      if (is_quantised(m.storage->type) && !m.recurrent && m.storage->lhs_scale == 0 && bounded[node.in[0]])
        m.storage->lhs_scale = kUnitScale;
    }
    for (size_t d = 0; layer != nullptr && d < layer->directions.size(); ++d) {
      Direction &direction = layer->directions[d];
      if (is_quantised(direction.r_storage.type) && h_is_bounded(*layer, direction, h_is_given(node)))
        direction.r_storage.lhs_scale = kUnitScale;
    }
  }
}

void choose_storage(Graph *graph, const StorageRequest &request) {
  Chooser(graph, request).run();
}

Graph with_f32_weights(Graph graph) {
  for (Node &node : graph.nodes) {
    for (const MatrixRef &m : matrices_of(&node)) *m.storage = Storage();
  }
  return graph;
}

}  // namespace rnnp::compiler
