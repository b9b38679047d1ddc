// random_models.cpp -- Contract: random_models.h.
// SPDX-License-Identifier: Apache-2.0
#include "random_models.h"

#include <fstream>
#include <stdexcept>
#include <string>

namespace rnnp::testing_support {

onnx::ModelProto random_onnx(uint32_t number) {
  const std::string path = std::string(RNNPACK_RANDOM_MODELS_DIR) + "/" + std::to_string(number) + ".onnx";
  std::ifstream file(path, std::ios::binary);
  onnx::ModelProto model;
  if (!file || !model.ParseFromIstream(&file)) throw std::runtime_error("cannot read " + path);
  return model;
}

}  // namespace rnnp::testing_support
