// compile.cpp -- Contract: compile.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <algorithm>
#include <set>

#include "compiler/emit/winograd_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/import/import.h"
#include "compiler/ir/form_loops.h"
#include "compiler/ir/implied_steps.h"
#include "compiler/ir/one_row.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/problem.h"
#include "compiler/quantize/choose_sparse.h"
#include "compiler/quantize/choose_storage.h"
#include "compiler/rewrites/fuse_cells.h"
#include "compiler/rewrites/fuse_persistent_cells.h"
#include "compiler/rewrites/loops.h"
#include "compiler/rewrites/plain_indices.h"
#include "compiler/rewrites/sorted_rows.h"
#include "compiler/rewrites/step_positions.h"
#include "compiler/rewrites/unrolled.h"
#include "compiler/rewrites/valid_steps.h"

namespace rnnp::compiler {

namespace {

// What of the options decides how a graph is read.
struct Reading {
  std::vector<StatePair> states;
  WeightForms weights;
};

// The file's graph and what its rewrites made of it, the last of which is imported. A rewrite knows from the graph alone whether it
// applies: nothing is imported to find out.
class Prepared {
 public:
  Prepared(const OnnxModel &file, const Reading &how) : how_(how), model_(&file) {
    use(with_rows_unsorted(*model_));
    use(with_valid_steps(*model_));
    use(with_step_positions(*model_));
    use(with_plain_indices(*model_));
    if (!reroll()) expand();
    fuse();
  }

  Graph import() {
    std::set<std::string> kept;
    for (const StatePair &pair : how_.states) kept.insert({pair.input, pair.output});
    Graph graph = import_model(*model_, kept, how_.weights);
    give_finals_per_step(&graph);
    bind_states(&graph, how_.states);
    fix_batch_of_one(&graph);
    run_passes(&graph);
    graph.notes.insert(graph.notes.end(), notes_.begin(), notes_.end());
    return graph;
  }

 private:
  bool use(std::unique_ptr<OnnxModel> rewritten) {
    if (!rewritten) return false;
    owned_.push_back(std::move(rewritten));
    model_ = owned_.back().get();
    return true;
  }

  // Steps that were written out one after the other become layers: those of which all became a layer. Others stay as they are.
  bool reroll() {
    std::set<std::string> kept;
    for (;;) {
      Rerolled rerolled = reroll_steps(*model_, kept);
      if (!rerolled.model) return false;
      WithoutLoops expanded = expand_loops(*rerolled.model);
      const size_t before = kept.size();
      for (const std::string &loop : rerolled.loops) {
        if (std::find(expanded.layers.begin(), expanded.layers.end(), loop) == expanded.layers.end()) kept.insert(loop);
      }
      if (kept.size() != before) continue;
      if (!expanded.states.empty()) return false;
      use(std::move(rerolled.model));
      use(std::move(expanded.model));
      notes_.emplace_back("cells written out step after step are run as recurrent layers");
      return true;
    }
  }

  void expand() {
    WithoutLoops expanded = expand_loops(*model_);
    for (const auto &state : expanded.states) how_.states.push_back({state.first, state.second, true});
    if (expanded.model) expanded.model->loop_sizes = expanded.sizes;
    use(std::move(expanded.model));
  }

  // Cells in one piece: those that the states tell, else those that their structure tells.
  void fuse() {
    StateNames names;
    for (const StatePair &pair : how_.states) names.emplace(pair.input, pair.output);
    if (use(fuse_persistent_cells(*model_, names)) || use(fuse_cells(*model_, names)))
      notes_.insert(notes_.begin(), "cells written in primitive operators are run as recurrent layers");
  }

  Reading how_;
  const OnnxModel *model_;
  std::vector<std::unique_ptr<OnnxModel>> owned_;
  std::vector<std::string> notes_;
};

// Notes the pairs that look like states and may be tied, as the graph as it was imported says.
void note_evident_states(Graph *graph) {
  for (const StatePair &pair : states_to_propose(*graph)) {
    graph->notes.push_back("input " + quote(pair.input) + " and output " + quote(pair.output) + " look like a state; --state " +
                           pair.input + "=" + pair.output + " keeps it in the library");
  }
}

}  // namespace

namespace {

StorageRequest request_of(const CompileOptions &options) {
  StorageRequest request;
  if (!options.weights.empty()) request.weights = weight_type(options.weights);
  if (!options.recurrent_weights.empty()) request.recurrent = weight_type(options.recurrent_weights);
  request.keep_float = options.keep_float;
  request.rounds_lhs = options.bf16_products;
  return request;
}

}  // namespace

static bool is_all_f32(Graph *graph) {
  return std::all_of(graph->nodes.begin(), graph->nodes.end(), [](Node &node) {
    const std::vector<MatrixRef> matrices = matrices_of(&node);
    return std::all_of(matrices.begin(), matrices.end(), [](const MatrixRef &m) { return m.storage->type == DType::kF32; });
  });
}

Graph compile_graph(const OnnxModel &model, const CompileOptions &options) {
  const Budget budget("compiling it", reading_limits(model.file_bytes));
  const bool float_weights = !options.adjust && (options.weights.empty() || options.weights == "f32");
  const bool winograd = options.winograd && has_fast_blocks(options.target);
  Graph graph = Prepared(model, {options.states, {float_weights, winograd}}).import();
  graph.stream_steps = options.stream_steps;
  form_loops(&graph);
  note_evident_states(&graph);
  graph.notes.insert(graph.notes.end(), model.notes.begin(), model.notes.end());
  for (const std::string &name : model.unread)
    graph.notes.push_back("input " + quote(name) + ": no output needs it, so the blob has no such input");
  return graph;
}

Compiled compile_model(const OnnxModel &model, const CompileOptions &options) {
  const StorageRequest request = request_of(options);
  SparseRequest sparse = sparse_request(options.sparse);
  if (sparse == SparseRequest::kKeep && !has_fast_blocks(options.target)) sparse = SparseRequest::kOff;
  const PanelFormat panels = dense_panels(request.weights ? request.weights->type : DType::kF32, panel_width(options.target));
  Compiled out;
  out.graph = compile_graph(model, options);
  if (!out.graph.no_state.empty()) {
    throw ModelError("the model looks ahead, so no state can be kept from step to step: " + out.graph.no_state);
  }
  if (options.stream_steps != 0 && !out.graph.causal) {
    throw ModelError("the model cannot run as a stream: " + out.graph.looks_ahead);
  }
  out.graph.metadata = metadata_of(model, options.metadata, options.onnx_metadata, &out.graph.notes);
  choose_storage(&out.graph, request);
  if (options.adjust) options.adjust(&out.graph, panels);
  choose_sparse(&out.graph, sparse, panels.nr);
  if (options.winograd && has_fast_blocks(options.target)) choose_winograd(&out.graph);
  const Scales bytes = byte_scales(options.target);
  const bool frees = options.frees_weights && is_all_f32(&out.graph);
  out.blob = frees ? write_blob_and_free(&out.graph, panels, bytes) : write_blob(out.graph, panels, bytes);
  return out;
}

Compiled compile_model(const OnnxModel &model, const std::string &target) {
  CompileOptions options;
  options.target = target;
  return compile_model(model, options);
}

}  // namespace rnnp::compiler
