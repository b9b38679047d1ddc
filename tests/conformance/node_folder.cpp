// node_folder.cpp -- cases in ONNX's own form: <case>/model.onnx and <case>/test_data_set_N/{input,output}_K.pb.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "conformance_case.h"
#include "proto_file.h"

namespace rnnp::conformance {
namespace {

namespace fs = std::filesystem;

bool is_recurrent_case(const std::string &name) {
  for (const char *prefix :
       {"test_rnn", "test_gru", "test_lstm", "test_simple_rnn", "test_LSTM", "test_RNN", "test_GRU", "onnx_model_"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

Case read_case(const fs::path &folder, const fs::path &data) {
  Case c;
  c.model = load<onnx::ModelProto>(folder / "model.onnx");
  std::set<std::string> initializers;
  for (const auto &tensor : c.model.graph().initializer()) initializers.insert(tensor.name());
  std::map<std::string, onnx::TensorProto> inputs;
  int index = 0;
  for (const auto &input : c.model.graph().input()) {
    if (initializers.count(input.name())) continue;
    inputs[input.name()] = load<onnx::TensorProto>(data / ("input_" + std::to_string(index++) + ".pb"));
  }
  weights_to_initializers(&c.model, &inputs);
  for (const auto &input : inputs) c.inputs[input.first] = to_array(compiler::read_tensor(input.second));
  index = 0;
  for (const auto &output : c.model.graph().output()) {
    c.expected[output.name()] =
        compiler::read_tensor(load<onnx::TensorProto>(data / ("output_" + std::to_string(index++) + ".pb")));
  }
  return c;
}

class NodeTest : public testing::Test {
 public:
  NodeTest(fs::path folder, fs::path data) : folder_(std::move(folder)), data_(std::move(data)) {}
  void TestBody() override {
    try {
      check_case(read_case(folder_, data_));
    } catch (const std::exception &error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  fs::path folder_, data_;
};

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

}  // namespace

size_t register_node_folder(const std::string &suite, const std::string &folder) {
  size_t count = 0;
  std::vector<fs::path> cases;
  for (const auto &entry : fs::directory_iterator(folder)) {
    if (is_recurrent_case(entry.path().filename().string()) && fs::exists(entry.path() / "model.onnx"))
      cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  for (const fs::path &path : cases) {
    for (const auto &entry : fs::directory_iterator(path)) {
      if (entry.path().filename().string().rfind("test_data_set_", 0) != 0) continue;
      const fs::path data = entry.path();
      const std::string name = test_name(path.filename().string() + "_" + data.filename().string().substr(14));
      testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path, data]() -> testing::Test * { return new NodeTest(path, data); });
      ++count;
    }
  }
  return count;
}

}  // namespace rnnp::conformance
