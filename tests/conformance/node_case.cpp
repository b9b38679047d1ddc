// node_case.cpp -- Contract: conformance_case.h.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "compiler/compile.h"
#include "conformance_case.h"
#include "proto_file.h"

namespace rnnp::conformance {
namespace {

namespace fs = std::filesystem;

template <typename Infos>
std::map<std::string, Tensor> load_tensors(const fs::path &folder, const std::string &kind, const Infos &infos) {
  std::map<std::string, Tensor> out;
  for (int i = 0; i < infos.size(); ++i) {
    out[infos.Get(i).name()] = compiler::read_tensor(load<onnx::TensorProto>(folder / (kind + "_" + std::to_string(i) + ".pb")));
  }
  return out;
}

// Lines "kind name: reason"; empty ones and those that begin with '#' say nothing.
const std::map<std::string, std::string> &listed_cases() {
  static const std::map<std::string, std::string> kListed = [] {
    std::map<std::string, std::string> out;
    std::ifstream file(RNNPACK_LISTED_CASES);
    EXPECT_TRUE(file) << "cannot read " << RNNPACK_LISTED_CASES;
    for (std::string line; std::getline(file, line);) {
      const size_t colon = line.find(": ");
      if (!line.empty() && line[0] != '#' && colon != std::string::npos) out[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return out;
  }();
  return kListed;
}

}  // namespace

void check_listed(const std::string &kind, const std::string &name, const std::string &problem) {
  const auto found = listed_cases().find(kind + " " + name);
  if (found == listed_cases().end()) {
    EXPECT_EQ(problem, "") << "neither passed nor listed: " << kind << " " << name;
  } else {
    EXPECT_NE(problem, "") << "it passes but is listed: " << found->first << ": " << found->second;
  }
}

std::vector<std::string> case_folders(const std::string &root) {
  std::vector<std::string> folders;
  for (const auto &entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool has_plain_tensors(const onnx::ModelProto &model) {
  static const std::set<int> kTypes = {onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE, onnx::TensorProto::INT32,
                                       onnx::TensorProto::INT64, onnx::TensorProto::BOOL,   onnx::TensorProto::UINT8};
  const auto plain = [](const onnx::ValueInfoProto &info) {
    return info.type().has_tensor_type() && kTypes.count(info.type().tensor_type().elem_type()) != 0;
  };
  int64_t opset = 0;
  for (const auto &import : model.opset_import()) {
    if (import.domain().empty()) opset = import.version();
  }
  const onnx::GraphProto &graph = model.graph();
  return opset >= compiler::kMinOpset && std::all_of(graph.input().begin(), graph.input().end(), plain) &&
         std::all_of(graph.output().begin(), graph.output().end(), plain);
}

onnx::ModelProto load_model(const std::string &folder) {
  auto model = load<onnx::ModelProto>(fs::path(folder) / "model.onnx");
  // The operators claimed changed only the element types they list after the newest opset that the compiler reads.
  for (auto &import : *model.mutable_opset_import()) import.set_version(std::min(import.version(), compiler::kMaxOpset));
  return model;
}

NodeCase load_node_case(const std::string &folder) {
  const fs::path data = fs::path(folder) / "test_data_set_0";
  NodeCase c;
  c.model = load_model(folder);
  c.inputs = load_tensors(data, "input", c.model.graph().input());
  c.outputs = load_tensors(data, "output", c.model.graph().output());
  return c;
}

}  // namespace rnnp::conformance
