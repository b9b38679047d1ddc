// fuse_persistent_cells.cpp -- Contract: fuse_persistent_cells.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/fuse_persistent_cells.h"

#include <algorithm>

#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/uses.h"
#include "compiler/rewrites/step_layers.h"

namespace rnnp::compiler {
namespace {

// In the place of the node that makes the first of a cell's next states stands the layer of one step.
class LayerRewriter {
 public:
  LayerRewriter(const OnnxModel &model, const StepGraph &step)
      : model_(model), uses_(model), rewrite_(model), kept_(step.after.begin(), step.after.end()) {}

  std::unique_ptr<OnnxModel> write(const std::vector<StepLayer> &layers) {
    std::set<const StepLayer *> written;
    for (const OnnxNode *node : model_.nodes) {
      const StepLayer *layer = made_by(*node, layers);
      if (layer == nullptr) {
        rewrite_.keep(redirected(*node));
      } else if (written.insert(layer).second) {
        write_layer(*node, *layer);
      }
    }
    return rewrite_.done();
  }

 private:
  const StepLayer *made_by(const OnnxNode &node, const std::vector<StepLayer> &layers) const {
    for (const StepLayer &layer : layers) {
      for (const std::string &name : node.output()) {
        if (name == layer.h_after || name == layer.c_after) return &layer;
      }
    }
    return nullptr;
  }

  void write_layer(const OnnxNode &node, const StepLayer &layer) {
    const std::string at = node_title(node) + ":layer", &h = layer.h_after;
    const auto earlier = per_step_.find(layer.x);
    rewrite_.reshaping("Unsqueeze", earlier == per_step_.end() ? layer.x : earlier->second, at + ":x", {0});
    rewrite_.reshaping("Unsqueeze", layer.h_before, at + ":h", {0});
    const bool lstm = layer.cell.has_c();
    if (lstm) rewrite_.reshaping("Unsqueeze", layer.c_before, at + ":c", {0});
    add_layer(&rewrite_, layer.cell, node_title(node), at, at + ":x", false, "");
    // An output that is h' is given at every step, but for the one that is the state.
    const bool given = kept_.count(h) == 0 && std::find(model_.outputs.begin(), model_.outputs.end(), h) != model_.outputs.end();
    per_step_[h] = given ? h : at + ":out";
    finals_[h] = given ? at + ":final" : h;
    rewrite_.reshaping("Squeeze", at + ":y", per_step_[h], {0, 1});
    rewrite_.reshaping("Squeeze", at + ":hn", finals_[h], {0});
    if (lstm) rewrite_.reshaping("Squeeze", at + ":cn", layer.c_after, {0});
  }

  // h' is the layer's final state where it goes to the outputs that are kept alone, else its output.
  const OnnxNode *redirected(const OnnxNode &node) {
    const auto named = [&](const std::string &name) { return per_step_.count(name) != 0; };
    if (std::none_of(node.input().begin(), node.input().end(), named)) return &node;
    const std::map<std::string, std::string> &names = is_kept(node) ? finals_ : per_step_;
    OnnxNode *copy = rewrite_.copied(node);
    for (std::string &name : *copy->mutable_input()) {
      if (named(name)) name = names.at(name);
    }
    return copy;
  }

  bool is_kept(const OnnxNode &node) const {
    if (!uses_.leads_out(node)) return false;
    return std::all_of(node.output().begin(), node.output().end(), [&](const std::string &name) {
      const std::set<std::string> outputs = uses_.outputs_of(name);
      return std::all_of(outputs.begin(), outputs.end(), [&](const std::string &output) { return kept_.count(output) != 0; });
    });
  }

  const OnnxModel &model_;
  Uses uses_;
  Rewrite rewrite_;
  std::set<std::string> kept_;                            // outputs that are states
  std::map<std::string, std::string> per_step_, finals_;  // h' by its name: at every step, and at the end
};

}  // namespace

std::unique_ptr<OnnxModel> fuse_persistent_cells(const OnnxModel &model, const StateNames &states) {
  StepGraph step;
  step.nodes = model.nodes;
  step.constants = model.constants;
  step.opset = model.opset;
  for (const auto &state : states) {
    step.before.push_back(state.first);
    step.after.push_back(state.second);
  }
  const std::vector<StepLayer> layers = some_layers_of_step(step);
  return layers.empty() ? nullptr : LayerRewriter(model, step).write(layers);
}

}  // namespace rnnp::compiler
