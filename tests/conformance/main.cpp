// main.cpp -- conformance_test package|published: registers every case of a folder and runs them. The folders: the ONNX package's
// node data (RNNPACK_ONNX_NODE_DIR or the path given at build time) and RNNPACK_CONFORMANCE_DIR. Where none is given the exit
// status is 77, which CTest takes for skipped; one that is given and has no case fails. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "conformance_case.h"

using namespace rnnp::conformance;

namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

std::string folder_from(const char *variable, const char *otherwise) {
  const char *value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

void report(const std::string &what, size_t count) {
  std::printf("conformance: %zu cases of %s\n", count, what.c_str());
}

void register_folder(const std::string &suite, const fs::path &path) {
  report(path.string(), register_node_folder(suite, path.string()));
}

void register_package(const fs::path &root) {
  register_folder("onnx_package", root);
  report("the operators around them", register_operator_folder("onnx_package_operators", root.string()));
  report("the f64 evaluation", register_eval_folder("onnx_package_f64", root.string()));
}

void register_published(const fs::path &root) {
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
  const bool package = argc == 2 && std::strcmp(argv[1], "package") == 0;
  if (!package && (argc != 2 || std::strcmp(argv[1], "published") != 0)) {
    std::fprintf(stderr, "usage: conformance_test package|published\n");
    return 2;
  }
  const char *variable = package ? "RNNPACK_ONNX_NODE_DIR" : "RNNPACK_CONFORMANCE_DIR";
  const std::string folder = folder_from(variable, package ? RNNPACK_ONNX_NODE_DIR : "");
  if (folder.empty()) {
    std::printf("conformance: %s is not set: the published cases are not here\n", variable);
    return kSkipped;
  }
  if (fs::is_directory(folder)) (package ? register_package : register_published)(folder);
  if (testing::UnitTest::GetInstance()->total_test_count() == 0) {
    std::printf("conformance: no cases in %s (%s)\n", folder.c_str(), variable);
    return 1;
  }
  std::fflush(stdout);
  return RUN_ALL_TESTS();
}
