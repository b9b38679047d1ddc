// compile.cpp -- Contract: compile.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <set>

#include "compiler/emit/write_blob.h"
#include "compiler/import/import.h"
#include "compiler/ir/implied_steps.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/fuse_cells.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

namespace {

// With cells in one piece where that works, else as the file has it.
Graph import_fused(const OnnxModel &model, const std::set<std::string> &kept) {
  if (const auto fused = fuse_cells(model)) {
    try {
      Graph graph = import_model(*fused, kept);
      graph.notes.emplace_back("LSTM cells written in primitive operators are run as recurrent layers");
      return graph;
    } catch (const ModelError &) {
      // The file's own graph says what is wrong, if anything is.
    }
  }
  return import_model(model, kept);
}

}  // namespace

Graph compile_graph(const OnnxModel &model, const CompileOptions &options) {
  std::set<std::string> tied;
  for (const StatePair &pair : options.states) tied.insert(pair.input);
  Graph graph = import_fused(model, tied);
  give_finals_per_step(&graph);
  tie_states(&graph, options.states);
  run_passes(&graph);
  note_evident_states(&graph);
  return graph;
}

Compiled compile_model(const OnnxModel &model, const CompileOptions &options) {
  const uint32_t nr = target_nr(options.target);
  if (nr == 0) throw UsageError("unknown target " + quote(options.target) + "; accepted: " + target_names());
  Compiled out;
  out.graph = compile_graph(model, options);
  if (!out.graph.states.empty() && !out.graph.causal) {
    throw ModelError("the model looks ahead, so no state can be kept from step to step: " + out.graph.looks_ahead);
  }
  if (options.stream_steps != 0 && !out.graph.causal) {
    throw ModelError("the model cannot run as a stream: " + out.graph.looks_ahead);
  }
  out.graph.stream_steps = options.stream_steps;
  out.blob = write_blob(out.graph, nr);
  return out;
}

Compiled compile_model(const OnnxModel &model, const std::string &target) {
  CompileOptions options;
  options.target = target;
  return compile_model(model, options);
}

}  // namespace rnnp::compiler
