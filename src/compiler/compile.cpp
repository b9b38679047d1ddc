// compile.cpp -- Contract: compile.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/emit/winograd_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/import/import.h"
#include "compiler/ir/implied_steps.h"
#include "compiler/ir/one_row.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/fuse_cells.h"
#include "compiler/onnx/fuse_persistent_cells.h"
#include "compiler/onnx/loops.h"
#include "compiler/onnx/plain_indices.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/sorted_rows.h"
#include "compiler/onnx/step_positions.h"
#include "compiler/onnx/unrolled.h"
#include "compiler/onnx/valid_steps.h"
#include "compiler/quantize/choose_sparse.h"
#include "compiler/quantize/choose_storage.h"

namespace rnnp::compiler {

namespace {

// The ways to write a model with its cells in one piece, the best first. None where a small file shares large matrices between many
// cells.
std::vector<std::unique_ptr<OnnxModel>> fused_cells(const OnnxModel &model, const StateNames &states) {
  std::vector<std::unique_ptr<OnnxModel>> ways;
  for (const auto fuse : {fuse_persistent_cells, fuse_cells}) {
    try {
      if (std::unique_ptr<OnnxModel> fused = fuse(model, states)) ways.push_back(std::move(fused));
    } catch (const Refusal &) {
      // As the file has them.
    }
  }
  return ways;
}

}  // namespace

namespace {

// What of the options decides how a graph is read.
struct Reading {
  std::vector<StatePair> states;
  bool float_weights;
};

Graph graph_of(const OnnxModel &model, const Reading &how, const StateNames &names) {
  std::set<std::string> kept;
  for (const auto &state : names) kept.insert({state.first, state.second});
  Graph graph = import_model(model, kept, how.float_weights);
  give_finals_per_step(&graph);
  bind_states(&graph, how.states);
  fix_batch_of_one(&graph);
  run_passes(&graph);
  return graph;
}

// With cells in one piece where that works, else as the file has it.
Graph graph_without_loops(const OnnxModel &model, const Reading &how) {
  StateNames names;
  for (const StatePair &pair : how.states) names.emplace(pair.input, pair.output);
  for (const auto &fused : fused_cells(model, names)) {
    try {
      Graph graph = graph_of(*fused, how, names);
      graph.notes.emplace_back("cells written in primitive operators are run as recurrent layers");
      if (how.states.empty() || graph.causal) return graph;
    } catch (const ModelError &) {
      // The file's own graph says what is wrong, if anything is.
    } catch (const UsageError &) {
    }
  }
  return graph_of(model, how, names);
}

// Steps that were written out one after the other as layers; nothing where they are none.
std::optional<Graph> graph_of_rerolled(const OnnxModel &model, const Reading &how) {
  std::set<std::string> kept;
  try {
    for (;;) {
      const Rerolled rerolled = reroll_steps(model, kept);
      if (!rerolled.model) return std::nullopt;
      const WithoutLoops expanded = expand_loops(*rerolled.model);
      const size_t before = kept.size();
      for (const std::string &loop : rerolled.loops) {
        if (std::find(expanded.layers.begin(), expanded.layers.end(), loop) == expanded.layers.end()) kept.insert(loop);
      }
      if (kept.size() != before) continue;
      if (!expanded.states.empty()) return std::nullopt;
      Graph graph = graph_without_loops(*expanded.model, how);
      if (!how.states.empty() && !graph.causal) return std::nullopt;
      graph.notes.emplace_back("cells written out step after step are run as recurrent layers");
      return graph;
    }
  } catch (const ModelError &) {
  } catch (const UsageError &) {
  } catch (const Refusal &) {
  }
  return std::nullopt;  // the file's own graph says what is wrong, if anything is
}

Graph graph_with_states(const OnnxModel &given_file, const Reading &given) {
  const std::unique_ptr<OnnxModel> unsorted = with_rows_unsorted(given_file);
  const std::unique_ptr<OnnxModel> valid = with_valid_steps(unsorted ? *unsorted : given_file);
  const OnnxModel &rows = valid ? *valid : unsorted ? *unsorted : given_file;
  const std::unique_ptr<OnnxModel> counted = with_step_positions(rows);
  const OnnxModel &file = counted ? *counted : rows;
  const std::unique_ptr<OnnxModel> plain = with_plain_indices(file);
  if (std::optional<Graph> rerolled = graph_of_rerolled(plain ? *plain : file, given)) return std::move(*rerolled);
  const WithoutLoops expanded = expand_loops(plain ? *plain : file);
  Reading how = given;
  for (const auto &state : expanded.states) how.states.push_back({state.first, state.second, true});
  return graph_without_loops(expanded.model ? *expanded.model : plain ? *plain : file, how);
}

bool can_be_bound(const OnnxModel &model, const Reading &how) {
  try {
    return graph_with_states(model, how).causal;
  } catch (const ModelError &) {
    return false;
  } catch (const UsageError &) {
    return false;
  }
}

// Notes the pairs that look like states and can be tied: all together, or each alone.
void note_evident_states(const OnnxModel &model, const std::vector<StatePair> &given, Graph *graph) {
  constexpr size_t kMostTrials = 16;  // each compiles the graph
  std::vector<StatePair> pairs = evident_states(*graph), all = given;
  all.insert(all.end(), pairs.begin(), pairs.end());
  const bool together = !pairs.empty() && can_be_bound(model, {all, true});
  if (!together && pairs.size() > kMostTrials) pairs.resize(kMostTrials);
  for (const StatePair &pair : pairs) {
    all = given;
    all.push_back(pair);
    if (!together && (pairs.size() == 1 || !can_be_bound(model, {all, true}))) continue;
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
  return request;
}

}  // namespace

Graph compile_graph(const OnnxModel &model, const CompileOptions &options) {
  const Budget budget("compiling it", reading_limits(model.file_bytes));
  const bool float_weights = !options.adjust && (options.weights.empty() || options.weights == "f32");
  Graph graph = graph_with_states(model, {options.states, float_weights});
  note_evident_states(model, options.states, &graph);
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
  if (!out.graph.states.empty() && !out.graph.causal) {
    throw ModelError("the model looks ahead, so no state can be kept from step to step: " + out.graph.looks_ahead);
  }
  if (options.stream_steps != 0 && !out.graph.causal) {
    throw ModelError("the model cannot run as a stream: " + out.graph.looks_ahead);
  }
  out.graph.stream_steps = options.stream_steps;
  out.graph.metadata = metadata_of(model, options.metadata, options.onnx_metadata, &out.graph.notes);
  choose_storage(&out.graph, request);
  if (options.adjust) options.adjust(&out.graph, panels);
  choose_sparse(&out.graph, sparse, panels.nr);
  if (options.winograd && has_fast_blocks(options.target)) choose_winograd(&out.graph);
  out.blob = write_blob(out.graph, panels, byte_scales(options.target));
  return out;
}

Compiled compile_model(const OnnxModel &model, const std::string &target) {
  CompileOptions options;
  options.target = target;
  return compile_model(model, options);
}

}  // namespace rnnp::compiler
