// search_types.cpp -- Contract: search_types.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/search_types.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compiler/emit/panel_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/onnx/errors.h"
#include "compiler/quantize/choose_storage.h"

namespace rnnp::compiler {
namespace {

// Matrices of a node that have one type: W, or R, of both directions.
struct Slot {
  size_t node;
  std::vector<size_t> matrices;
  std::string name;
  DType sixteen;  // f16, unless weights are beyond it
  size_t type = 0;
  // The measure where this alone is stored in low precision than f32, by types.
  double alone[4] = {0, 0, 0, HUGE_VAL};
};

struct TypeTrial {
  double measure = -HUGE_VAL;
  size_t bytes = 0;
};

class Search {
 public:
  Search(Graph *graph, const PanelFormat &panels, const Reference &reference, const Measure &measure, const SearchRequest &request,
         const Progress &progress)
      : graph_(graph), panels_(panels), reference_(reference), measure_(measure), request_(request), progress_(progress) {}

  std::vector<std::string> run() {
    find_slots();
    if (slots_.empty()) {
      tell_whole(progress_);
      return {"auto: no weights are left to be stored in low precision"};
    }
    round_all();
    try_alone();
    for (Slot &slot : slots_) {
      while (request_.least && slot.type + 1 < kTypes && slot.alone[slot.type] < *request_.least) ++slot.type;
    }
    TypeTrial now = trial(slots_);
    say("each in the fewest bits that it alone allows", now);
    while (!is_enough(now) && raise(&now)) {
    }
    if (request_.least) lower(&now);
    *graph_ = stored(slots_);
    finish(now);
    tell_whole(progress_);
    return lines_;
  }

 private:
  static constexpr size_t kTypes = 4, kHalves = 0, kBytes = 1;
  static WeightType type_of(const Slot &slot, size_t type) {
    const WeightType types[kTypes] = {{DType::kI4, kLeastGroup}, {DType::kI8, 0}, {slot.sixteen, 0}, {DType::kF32, 0}};
    return types[type];
  }
  static void store(const WeightType &type, Storage *storage) {
    *storage = Storage();
    storage->type = type.type;
    storage->group_k = type.group_k;
  }

  static double cost(const Slot &slot) { return slot.alone[slot.type]; }

  void find_slots() {
    for (size_t n = 0; n < graph_->nodes.size(); ++n) {
      Node &node = graph_->nodes[n];
      if (std::find(request_.keep_float.begin(), request_.keep_float.end(), node.name) != request_.keep_float.end()) continue;
      const std::vector<MatrixRef> matrices = matrices_of(&node);
      for (const char *name : {"W", "R"}) {
        Slot slot{n, {}, std::string(name) + " of " + quote(node.name), DType::kF16};
        for (size_t i = 0; i < matrices.size(); ++i) {
          const MatrixRef &m = matrices[i];
          if (m.storage->type != DType::kF32 || std::string(m.name) != name) continue;
          const auto is_wide = [](float w) { return !(std::fabs(w) < 65504.0f); };
          if (std::any_of(m.w->begin(), m.w->end(), [](float w) { return !std::isfinite(w); })) continue;
          if (std::any_of(m.w->begin(), m.w->end(), is_wide)) slot.sixteen = DType::kBf16;
          slot.matrices.push_back(i);
        }
        if (!slot.matrices.empty()) slots_.push_back(slot);
      }
    }
  }

  // All of them at once: what is rounded of one does not depend on the others.
  void round_all() {
    for (const size_t type : {kHalves, kBytes}) {
      Graph &graph = rounded_[type] = *graph_;
      for (const Slot &slot : slots_) {
        const std::vector<MatrixRef> matrices = matrices_of(&graph.nodes[slot.node]);
        for (const size_t i : slot.matrices) store(type_of(slot, type), matrices[i].storage);
      }
      set_known_lhs_scales(&graph);
      set_lhs_scales(&graph, reference_.seen());
      round_graph(&graph, request_.rounding, &reference_.seen());
    }
  }

  Graph stored(const std::vector<Slot> &slots) {
    Graph graph = *graph_;
    for (const Slot &slot : slots) {
      const std::vector<MatrixRef> matrices = matrices_of(&graph.nodes[slot.node]);
      for (const size_t i : slot.matrices) {
        if (slot.type <= kBytes) {
          *matrices[i].storage = *matrices_of(&rounded_[slot.type].nodes[slot.node])[i].storage;
        } else {
          store(type_of(slot, slot.type), matrices[i].storage);
        }
      }
    }
    return graph;
  }

  TypeTrial trial(const std::vector<Slot> &slots) {
    if (progress_) progress_(std::min(++trials_, usual_trials() - 1), usual_trials());
    const std::vector<uint8_t> blob = write_blob(stored(slots), panels_);
    Runner runner(blob);
    return {measure_(runner.run(reference_.inputs(), {})), blob.size()};
  }

  // Each alone in every type, all together, raised as far as they go, lowered once.
  size_t usual_trials() const { return (2 * (kTypes - 1) + 1) * slots_.size() + 1; }

  bool is_enough(const TypeTrial &trial) const { return request_.least && trial.measure >= *request_.least; }

  // What each costs where all others are f32: which of them hide the rest, and which may have few bits.
  void try_alone() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      std::vector<Slot> tried = slots_;
      for (Slot &slot : tried) slot.type = kTypes - 1;
      std::string text = "auto: " + slots_[i].name + " alone:";
      for (size_t type = 0; type + 1 < kTypes; ++type) {
        tried[i].type = type;
        slots_[i].alone[type] = trial(tried).measure;
        char number[64];
        std::snprintf(number, sizeof number, "%s %s %.4g%s", type == 0 ? "" : ",",
                      weight_type_name(type_of(slots_[i], type)).c_str(), slots_[i].alone[type],
                      request_.unit.empty() ? "" : (" " + request_.unit).c_str());
        text += number;
      }
      lines_.push_back(text);
    }
  }

  // Stores in more bits what alone costs most. False when none is left, or none fits.
  bool raise(TypeTrial *now) {
    std::vector<size_t> order(slots_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost(slots_[a]) < cost(slots_[b]); });
    for (const size_t i : order) {
      if (slots_[i].type + 1 >= kTypes) continue;
      ++slots_[i].type;
      const TypeTrial tried = trial(slots_);
      if (!request_.least && (tried.bytes > request_.l2_bytes || tried.measure <= now->measure)) {
        --slots_[i].type;
        continue;
      }
      say(slots_[i].name + " to " + weight_type_name(type_of(slots_[i], slots_[i].type)), tried);
      *now = tried;
      return true;
    }
    return false;
  }

  // What was stored in more bits before others were may do with fewer again; the largest saving first.
  void lower(TypeTrial *now) {
    for (bool any = true; any;) {
      any = false;
      TypeTrial best = *now;
      size_t which = slots_.size();
      for (size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].type == 0) continue;
        std::vector<Slot> fewer = slots_;
        --fewer[i].type;
        const TypeTrial tried = trial(fewer);
        if (is_enough(tried) && tried.bytes < best.bytes) best = tried, which = i;
      }
      if (which == slots_.size()) continue;
      --slots_[which].type;
      say(slots_[which].name + " back to " + weight_type_name(type_of(slots_[which], slots_[which].type)), best);
      *now = best;
      any = true;
    }
  }

  void say(const std::string &what, const TypeTrial &trial) {
    char text[96];
    std::snprintf(text, sizeof text, ": %.1f%s, %zu bytes", trial.measure,
                  request_.unit.empty() ? "" : (" " + request_.unit).c_str(), trial.bytes);
    lines_.push_back("auto: " + what + text);
  }

  void finish(const TypeTrial &now) {
    char text[128];
    if (request_.l2_bytes != 0) {
      std::snprintf(text, sizeof text, "auto: %zu bytes %s the %zu KiB of L2 that the target is taken to have", now.bytes,
                    now.bytes <= request_.l2_bytes ? "fit" : "do not fit", request_.l2_bytes / 1024);
      lines_.emplace_back(text);
    }
    if (request_.least && !is_enough(now)) lines_.emplace_back("auto: f32 does not keep what is asked for either");
  }

  Graph *graph_;
  const PanelFormat &panels_;
  const Reference &reference_;
  const Measure &measure_;
  const SearchRequest &request_;
  const Progress &progress_;
  std::vector<Slot> slots_;
  Graph rounded_[2];  // every slot in int4, in int8
  std::vector<std::string> lines_;
  size_t trials_ = 0;
};

}  // namespace

size_t l2_bytes_of(const std::string &target) {
  if (panel_width(target) == 4) return 0;  // cores without a cache
  if (target == "armv7") return 256 << 10;
  if (target == "neon" || target == "avx2") return 512 << 10;
  return 1 << 20;
}

std::vector<std::string> search_types(Graph *graph, const PanelFormat &panels, const Reference &reference, const Measure &measure,
                                      const SearchRequest &request, const Progress &progress) {
  return Search(graph, panels, reference, measure, request, progress).run();
}

}  // namespace rnnp::compiler
