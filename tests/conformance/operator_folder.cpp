// operator_folder.cpp -- ONNX's node cases of every operator that the importer claims, through compiler and library. A case that is
// refused must be listed with its reason; one that is accepted must be right.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "compiler/compile.h"
#include "compiler/import/builder.h"
#include "compiler/onnx/problem.h"
#include "conformance_case.h"

namespace rnnp::conformance {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;

// Operands that must be known when compiling: weights, statistics, bounds; see docs/OPERATORS.md. Integers are too (shapes, axes,
// indices, lengths).
bool is_parameter(const onnx::NodeProto &node, int index) {
  static const std::map<std::string, std::set<int>> kParameters = {
      {"Gemm", {1}},
      {"Clip", {1, 2}},
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"BatchNormalization", {1, 2, 3, 4}},
      {"LayerNormalization", {1, 2}},
      {"InstanceNormalization", {1, 2}},
      {"GroupNormalization", {1, 2}},
      {"Pad", {1, 2, 3}},
      {"OneHot", {1, 2}},
      {"Resize", {1, 2, 3}},
      {"Dropout", {1, 2}},
      {"QuantizeLinear", {1, 2}},
      {"DequantizeLinear", {1, 2}},
      {"RNN", {1, 2, 3, 7}},
      {"GRU", {1, 2, 3, 7}},
      {"LSTM", {1, 2, 3, 7}},
  };
  const auto found = kParameters.find(node.op_type());
  return found != kParameters.end() && found->second.count(index) != 0;
}

bool is_parameter(const onnx::GraphProto &graph, const std::string &name) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      if (node.input(i) == name && is_parameter(node, i)) return true;
    }
  }
  return false;
}

int elem_type(const onnx::ValueInfoProto &info) {
  return info.type().tensor_type().elem_type();
}

// Of a type that is quantised to.
bool is_small(int type) {
  return type == TensorProto::INT8 || type == TensorProto::UINT8 || type == TensorProto::INT16 || type == TensorProto::UINT16;
}

onnx::TensorProto proto_of(const std::string &name, const Tensor &tensor, int type) {
  onnx::TensorProto out;
  out.set_name(name);
  out.set_data_type(type == TensorProto::FLOAT || type == TensorProto::BOOL || is_small(type) ? type : TensorProto::INT64);
  for (int64_t dim : tensor.shape) out.add_dims(dim);
  for (double v : tensor.data) {
    if (type == TensorProto::FLOAT)
      out.add_float_data(static_cast<float>(v));
    else if (is_small(type))
      out.add_int32_data(static_cast<int32_t>(v));
    else if (type == TensorProto::BOOL)
      out.add_int32_data(v != 0);
    else
      out.add_int64_data(compiler::to_int(v));
  }
  return out;
}

// The library's inputs are f32: a truth value comes in as 0 or 1, and a node in front of all others turns it into one.
void truth_from_float(onnx::GraphProto *graph, onnx::ValueInfoProto *info) {
  const std::string name = info->name();
  info->set_name(name + "_f32");
  info->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  *graph->add_initializer() = proto_of(
      name + "_half",
      [] {
        Tensor half(compiler::Elem::kFloat, {});
        half.data[0] = 0.5;
        return half;
      }(),
      TensorProto::FLOAT);
  onnx::NodeProto node;
  node.set_op_type("Greater");
  node.add_input(name + "_f32");
  node.add_input(name + "_half");
  node.add_output(name);
  graph->mutable_node()->Add();
  for (int i = graph->node_size() - 1; i > 0; --i) *graph->mutable_node(i) = graph->node(i - 1);
  *graph->mutable_node(0) = node;
}

// And so are its outputs.
void float_from(onnx::GraphProto *graph, onnx::ValueInfoProto *info) {
  const std::string name = info->name();
  info->set_name(name + "_f32");
  info->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  onnx::NodeProto *node = graph->add_node();
  node->set_op_type("Cast");
  node->add_input(name);
  node->add_output(name + "_f32");
  onnx::AttributeProto *to = node->add_attribute();
  to->set_name("to");
  to->set_type(onnx::AttributeProto::INT);
  to->set_i(TensorProto::FLOAT);
}

Case read_case(const std::string &folder) {
  NodeCase from = load_node_case(folder);
  Case c;
  c.model = std::move(from.model);
  onnx::GraphProto *graph = c.model.mutable_graph();
  for (auto &info : *graph->mutable_input()) {
    const std::string name = info.name();
    int type = elem_type(info);
    if (type == TensorProto::DOUBLE) info.mutable_type()->mutable_tensor_type()->set_elem_type(type = TensorProto::FLOAT);
    if ((type != TensorProto::FLOAT && type != TensorProto::BOOL) || is_parameter(*graph, name)) {
      *graph->add_initializer() = proto_of(name, from.inputs.at(name), type);
      continue;
    }
    if (type == TensorProto::BOOL) truth_from_float(graph, &info);
    Tensor tensor = from.inputs.at(name);
    tensor.elem = compiler::Elem::kFloat;
    c.inputs[info.name()] = to_array(tensor);
  }
  for (auto &info : *graph->mutable_output()) {
    const Tensor expected = from.outputs.at(info.name());
    if (elem_type(info) != TensorProto::FLOAT && elem_type(info) != TensorProto::DOUBLE) float_from(graph, &info);
    c.expected[info.name()] = expected;
  }
  return c;
}

// Every operator of the graph is one that the importer knows, and all inputs and outputs are tensors of numbers.
bool is_claimed(const onnx::ModelProto &model) {
  const onnx::GraphProto &graph = model.graph();
  return std::all_of(graph.node().begin(), graph.node().end(),
                     [](const onnx::NodeProto &node) { return node.domain().empty() && compiler::find_import(node.op_type()); }) &&
         has_plain_tensors(model);
}

// Empty when the compiler accepts it.
std::string refusal_of(const Case &c) {
  // A dimension of 0 reads as an open one, and a run takes one step and one row at least.
  for (const auto &input : c.inputs) {
    if (input.second.f32.empty() && input.second.i32.empty()) return "an input without elements";
  }
  try {
    compiler::compile_model(*compiler::check_model(c.model), "generic");
  } catch (const compiler::ModelError &error) {
    return error.what();
  } catch (const compiler::Refusal &refusal) {
    return refusal.what();
  }
  return "";
}

class OperatorTest : public testing::Test {
 public:
  explicit OperatorTest(std::string folder) : folder_(std::move(folder)) {}
  void TestBody() override {
    try {
      const Case c = read_case(folder_);
      const std::string refusal = refusal_of(c);
      check_listed("compile", fs::path(folder_).filename().string(), refusal);
      if (refusal.empty()) check_case(c);
    } catch (const std::exception &error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  std::string folder_;
};

}  // namespace

size_t register_operator_folder(const std::string &suite, const std::string &folder) {
  size_t count = 0;
  for (const std::string &path : case_folders(folder)) {
    if (!is_claimed(load_model(path))) continue;
    testing::RegisterTest(suite.c_str(), fs::path(path).filename().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test * { return new OperatorTest(path); });
    ++count;
  }
  return count;
}

}  // namespace rnnp::conformance
