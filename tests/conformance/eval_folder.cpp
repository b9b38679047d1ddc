// eval_folder.cpp -- ONNX's node cases against the f64 evaluation alone, for every operator that it knows, compiled or not.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"
#include "conformance_case.h"

namespace rnnp::conformance {
namespace {

namespace fs = std::filesystem;
using namespace rnnp::compiler;

bool is_known(const onnx::ModelProto &model) {
  const onnx::GraphProto &graph = model.graph();
  return std::all_of(graph.node().begin(), graph.node().end(),
                     [](const onnx::NodeProto &node) { return node.domain().empty() && find_eval(node.op_type()) != nullptr; }) &&
         has_plain_tensors(model);
}

// Empty when they agree.
std::string difference(const std::string &what, const Tensor &got, const Tensor &want) {
  if (got.shape != want.shape) return what + " has shape " + shape_text(got.shape) + ", expected " + shape_text(want.shape);
  for (size_t i = 0; i < got.data.size(); ++i) {
    const double x = got.data[i], y = want.data[i];
    if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 2e-5 * std::max(1.0, std::fabs(y))) continue;
    return what + " element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y);
  }
  return "";
}

// Empty when the evaluation gives what is expected.
std::string problem_of(const std::string &folder) {
  try {
    const NodeCase c = load_node_case(folder);
    const auto got = eval_graph(*check_model(c.model), c.inputs);
    for (const auto &output : c.outputs) {
      const std::string text = difference(output.first, got.at(output.first), output.second);
      if (!text.empty()) return text;
    }
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

class EvalTest : public testing::Test {
 public:
  explicit EvalTest(std::string folder) : folder_(std::move(folder)) {}
  void TestBody() override { check_listed("f64", fs::path(folder_).filename().string(), problem_of(folder_)); }

 private:
  std::string folder_;
};

}  // namespace

size_t register_eval_folder(const std::string &suite, const std::string &folder) {
  size_t count = 0;
  for (const std::string &path : case_folders(folder)) {
    if (!is_known(load_model(path))) continue;
    testing::RegisterTest(suite.c_str(), fs::path(path).filename().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test * { return new EvalTest(path); });
    ++count;
  }
  return count;
}

}  // namespace rnnp::conformance
