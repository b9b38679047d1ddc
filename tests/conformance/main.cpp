// main.cpp -- registers every published case it can find and runs them. Folders: the ONNX package's node data
// (RNNPACK_ONNX_NODE_DIR or the path given at build time) and RNNPACK_CONFORMANCE_DIR. An absent folder is said; it is no failure.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "conformance_case.h"

using namespace rnnp::conformance;

namespace {

namespace fs = std::filesystem;

std::string folder_from(const char *variable, const char *otherwise) {
  const char *value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

void report(const std::string &what, size_t count) {
  std::printf("conformance: %zu cases of %s\n", count, what.c_str());
}

void register_folder(const std::string &suite, const fs::path &path) {
  if (!fs::is_directory(path)) {
    std::printf("conformance: ABSENT, nothing run for %s\n", path.string().c_str());
    return;
  }
  report(path.string(), register_node_folder(suite, path.string()));
}

void register_conformance(const fs::path &root) {
  for (const auto &entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "onnx_node_ops") register_folder(name, entry.path());
  }
  if (fs::is_directory(root / "onnx_node_ops")) {
    report("the operators around them", register_operator_folder("onnx_node_ops", (root / "onnx_node_ops").string()));
    report("the f64 evaluation", register_eval_folder("onnx_node_ops_f64", (root / "onnx_node_ops").string()));
  }
  if (fs::exists(root / "ort_rnn_cases.json"))
    report("ort_rnn_cases.json", register_json_cases((root / "ort_rnn_cases.json").string()));
  if (fs::exists(root / "ort_rnn_negative_cases.json")) {
    report("ort_rnn_negative_cases.json", register_negative_json_cases((root / "ort_rnn_negative_cases.json").string()));
  }
}

}  // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string package = folder_from("RNNPACK_ONNX_NODE_DIR", RNNPACK_ONNX_NODE_DIR);
  if (package.empty()) {
    std::printf("conformance: ABSENT, the ONNX package's node data was not found (set RNNPACK_ONNX_NODE_DIR)\n");
  } else {
    register_folder("onnx_package", package);
    report("the operators around them", register_operator_folder("onnx_package_operators", package));
    report("the f64 evaluation", register_eval_folder("onnx_package_f64", package));
  }
  const std::string shared = folder_from("RNNPACK_CONFORMANCE_DIR", "");
  if (shared.empty() || !fs::is_directory(shared))
    std::printf("conformance: ABSENT, RNNPACK_CONFORMANCE_DIR is not set to a folder\n");
  else
    register_conformance(shared);
  std::fflush(stdout);
  return RUN_ALL_TESTS();
}
