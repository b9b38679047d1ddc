// network_blob.h -- a published network compiled as its row of the table says. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_NETWORKS_NETWORK_BLOB_H_
#define RNNPACK_TESTS_NETWORKS_NETWORK_BLOB_H_

#include <algorithm>
#include <cstdlib>

#include "compiler/compile.h"
#include "compiler/files/files.h"
#include "compiler/files/npz.h"
#include "compiler/onnx/specialise.h"
#include "networks/network_table.h"

namespace rnnp::networks {

// The folder of the files; empty: they are not here.
inline std::string models_folder() {
  const char *value = std::getenv("RNNPACK_MODELS_DIR");
  return value ? value : "";
}

inline std::vector<int64_t> sizes_in(const std::string &text) {
  std::vector<int64_t> out;
  for (size_t at = 0; at < text.size(); at = std::min(text.find(',', at), text.size() - 1) + 1)
    out.push_back(std::stoll(text.substr(at)));
  return out;
}

// kept: the library keeps the states, from constants of `golden` where they do not start from zeros.
inline std::vector<uint8_t> compiled_network(const Network &net, const compiler::Arrays &golden, bool kept,
                                             const std::string &weights = {}) {
  const std::vector<uint8_t> file = compiler::read_file(models_folder() + "/" + net.file);
  const auto model = compiler::parse_model(file.data(), file.size());
  compiler::Specialisation wanted;
  for (const Named &number : net.numbers) wanted.values[number.tensor].data = {std::stod(number.golden)};
  for (const Named &shape : net.shapes) wanted.shapes[shape.tensor] = sizes_in(shape.golden);
  compiler::CompileOptions options;
  options.weights = weights;
  if (kept && net.initial.empty()) options.states = net.states;
  for (const Named &state : net.initial) {
    const compiler::Array &array = golden.at(state.golden);
    compiler::Tensor constant(compiler::Elem::kFloat, array.shape);
    std::copy(array.f32.begin(), array.f32.end(), constant.data.begin());
    if (kept) wanted.values[state.tensor] = constant;
  }
  compiler::specialise(model.get(), wanted);
  return compiler::compile_model(*model, options).blob;
}

}  // namespace rnnp::networks
#endif  // RNNPACK_TESTS_NETWORKS_NETWORK_BLOB_H_
