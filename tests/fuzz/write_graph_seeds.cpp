// write_graph_seeds.cpp -- random models as seeds of both fuzzers: write_graph_seeds ONNX_FOLDER BLOB_FOLDER.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "compiler/compile.h"
#include "random_models.h"

namespace {

void write(const std::string &path, const void *data, size_t bytes) {
  std::FILE *f = std::fopen(path.c_str(), "wb");
  if (f == nullptr || std::fwrite(data, 1, bytes, f) != bytes || std::fclose(f) != 0)
    throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 1;
  try {
    for (uint32_t seed = 1; seed <= 40; ++seed) {
      const onnx::ModelProto proto = rnnp::testing_support::random_onnx(seed);
      const std::string bytes = proto.SerializeAsString(), name = "/graph" + std::to_string(seed);
      write(argv[1] + name + ".onnx", bytes.data(), bytes.size());
      const auto model = rnnp::compiler::check_model(proto);
      const std::vector<uint8_t> blob = rnnp::compiler::compile_model(*model, seed % 2 ? "generic" : "cortex-m").blob;
      write(argv[2] + name + ".rnnp", blob.data(), blob.size());
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
