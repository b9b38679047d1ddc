// tflite_model.cpp -- Contract: tflite_model.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/tflite/tflite_model.h"

#include <algorithm>

#include "compiler/onnx/budget.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

using Names = std::vector<std::pair<std::string, int32_t>>;

// The signature's name of a tensor, or the file's without what the converter put around it.
std::string io_name(const Names &names, const TfSubgraph &graph, int32_t tensor, const std::string &otherwise) {
  const auto named = std::find_if(names.begin(), names.end(), [&](const auto &n) { return n.second == tensor; });
  std::string name = named != names.end() ? named->first : graph.tensors[static_cast<size_t>(tensor)].name;
  const std::string before = "serving_default_";
  if (name.compare(0, before.size(), before) == 0) name.erase(0, before.size());
  if (const size_t colon = name.find(':'); colon != std::string::npos) name.erase(colon);
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/' || c == '.' ||
           c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), is_plain) || name == "StatefulPartitionedCall")
    return otherwise;
  return name;
}

void add_input(const TfModel &model, int32_t tensor, size_t at, GraphBuilder *builder, TfGraph *graph) {
  const TfTensor &t = graph->tensor(tensor);
  if (graph->is_known(tensor) || t.is_constant())
    throw Refusal("input " + std::to_string(at) + " is a constant, or is given twice");
  std::vector<BuiltDim> dims;
  for (size_t i = 0; i < t.shape.size(); ++i) {
    const char *open = i == 0 ? "batch" : i == 1 && t.shape.size() == 3 ? "steps" : nullptr;
    const std::string name = open != nullptr ? open : "dim" + std::to_string(i);
    dims.push_back(t.shape[i] < 0 ? BuiltDim(name) : BuiltDim(t.shape[i]));
  }
  const bool is_float = t.is_quantized() || t.type == TfType::kFloat32;
  const std::string name = builder->input(io_name(model.input_names, graph->graph(), tensor, "x" + std::to_string(at)), dims,
                                          is_float ? static_cast<int>(kOnnxFloat) : onnx_element_type(t.type));
  if (t.is_quantized())
    graph->give(tensor, name);
  else
    graph->set(tensor, name, false);
}

void add_output(const TfModel &model, int32_t tensor, size_t at, GraphBuilder *builder, TfGraph *graph) {
  const std::string name = builder->unused(io_name(model.output_names, graph->graph(), tensor, "y" + std::to_string(at)));
  builder->node_to("Identity", {graph->result(tensor)}, {name});
  builder->output(name);
}

template <class Act>
void noting(Problems *problems, const char *what, const Act &act) {
  if (const auto refused = refusal_of(act)) problems->add("", what, *refused);
}

bool has_int8_sequences(const TfSubgraph &graph) {
  return std::any_of(graph.operators.begin(), graph.operators.end(), [&](const TfOperator &op) {
    const bool is_sequence = tflite_operator_name(op).find("DIRECTIONAL_SEQUENCE") != std::string::npos;
    return is_sequence && !op.inputs.empty() && op.inputs[0] >= 0 &&
           graph.tensors[static_cast<size_t>(op.inputs[0])].is_quantized();
  });
}

std::unique_ptr<OnnxModel> converted(const TfModel &model) {
  GraphBuilder builder("tflite");
  TfContext context{model, &builder};
  const TfSubgraph &main = model.graphs[0];
  context.keeps_int8 = has_int8_sequences(main);
  TfGraph graph(&context, main, &builder, "");
  for (size_t i = 0; i < main.inputs.size(); ++i)
    noting(&context.problems, "input", [&] { add_input(model, main.inputs[i], i, &builder, &graph); });
  graph.convert_for(main.outputs);
  context.problems.raise();
  for (size_t i = 0; i < main.outputs.size(); ++i)
    noting(&context.problems, "output", [&] { add_output(model, main.outputs[i], i, &builder, &graph); });
  context.problems.raise();
  for (const auto &state : context.next) {
    const std::string next = builder.node("Identity", {state.second}, state.first + "_next");
    builder.output(next);
    builder.state(state.first, next);
  }
  auto made = builder.take();
  made->notes.assign(context.notes.begin(), context.notes.end());
  return made;
}

bool detect(const ModelFile &file) {
  return is_tflite({file.bytes, file.size});
}

std::unique_ptr<OnnxModel> read(const ModelFile &file, const ReadOptions &) {
  const TfModel model = read_tflite({file.bytes, file.size});
  try {
    const Budget budget("reading it", reading_limits(static_cast<int64_t>(file.size)));
    return converted(model);
  } catch (const Refusal &refusal) {
    throw ModelError(std::string("the TensorFlow Lite file: ") + refusal.what());
  }
}

}  // namespace

const FrontEnd &tflite_models() {
  static const FrontEnd kFrontEnd = {"TensorFlow Lite", detect, read};
  return kFrontEnd;
}

}  // namespace rnnp::compiler
