// operator_folder.cpp -- ONNX's single-node cases of the operators around the recurrent ones. A case that the compiler refuses is
// listed with the reason (docs/OPERATORS.md has the limits); one that it accepts must be right.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "compiler/onnx/problem.h"
#include "conformance_case.h"

namespace rnnp::conformance {
namespace {

namespace fs = std::filesystem;

template <typename Proto>
Proto load(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  Proto proto;
  if (!file || !proto.ParseFromIstream(&file)) throw std::runtime_error("cannot read " + path.string());
  return proto;
}

// Operands that must be known when compiling: integers (shapes, axes, indices), the bounds of Clip, the weights of Gemm and MatMul.
bool is_parameter(const onnx::NodeProto &node, int index, const onnx::TensorProto &tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT) return true;
  const std::string &op = node.op_type();
  return index == 1 ? op == "Gemm" || op == "MatMul" || op == "Clip" : index == 2 && op == "Clip";
}

Case read_case(const fs::path &folder) {
  Case c;
  c.model = load<onnx::ModelProto>(folder / "model.onnx");
  // These operators changed only the element types they list after the newest opset that the compiler reads.
  for (auto &import : *c.model.mutable_opset_import()) import.set_version(std::min(import.version(), compiler::kMaxOpset));
  const fs::path data = folder / "test_data_set_0";
  onnx::GraphProto *graph = c.model.mutable_graph();
  for (int i = 0; i < graph->input_size(); ++i) {
    onnx::TensorProto tensor = load<onnx::TensorProto>(data / ("input_" + std::to_string(i) + ".pb"));
    tensor.set_name(graph->input(i).name());
    const onnx::NodeProto &node = graph->node(0);
    const auto at = std::find(node.input().begin(), node.input().end(), tensor.name());
    if (is_parameter(node, static_cast<int>(at - node.input().begin()), tensor))
      *graph->add_initializer() = tensor;
    else
      c.inputs[tensor.name()] = to_array(compiler::read_tensor(tensor));
  }
  for (int i = 0; i < graph->output_size(); ++i) {
    c.expected[graph->output(i).name()] =
        compiler::read_tensor(load<onnx::TensorProto>(data / ("output_" + std::to_string(i) + ".pb")));
  }
  return c;
}

// Every operator of the graph is one that the importer knows.
bool is_claimed(const onnx::ModelProto &model) {
  const std::string table = compiler::operator_table();
  return std::all_of(model.graph().node().begin(), model.graph().node().end(),
                     [&](const onnx::NodeProto &node) { return table.find("| " + node.op_type() + " |") != std::string::npos; });
}

class OperatorTest : public testing::Test {
 public:
  explicit OperatorTest(fs::path folder) : folder_(std::move(folder)) {}
  void TestBody() override {
    try {
      const Case c = read_case(folder_);
      try {
        compiler::compile_model(*compiler::check_model(c.model), "generic");
      } catch (const compiler::ModelError &error) {
        std::printf("REFUSED %s: %s\n", folder_.filename().c_str(), error.what());
        return;
      }
      check_case(c);
    } catch (const compiler::Refusal &refusal) {
      std::printf("REFUSED %s: %s\n", folder_.filename().c_str(), refusal.what());
    } catch (const std::exception &error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  fs::path folder_;
};

}  // namespace

size_t register_operator_folder(const std::string &suite, const std::string &folder) {
  size_t count = 0;
  std::set<fs::path> cases;
  for (const auto &entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "model.onnx")) cases.insert(entry.path());
  }
  for (const fs::path &path : cases) {
    if (!is_claimed(load<onnx::ModelProto>(path / "model.onnx"))) continue;
    std::string name = path.filename().string();
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test * { return new OperatorTest(path); });
    ++count;
  }
  return count;
}

}  // namespace rnnp::conformance
