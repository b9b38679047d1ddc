// fuzz_onnx.cpp -- libFuzzer target of the ONNX importer: any bytes give a blob or an exception with a message, in bounded memory.
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>

#include "compiler/compile.h"
#include "compiler/onnx/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const auto model = rnnp::compiler::parse_model(data, size);
    rnnp::compiler::compile_model(*model, "generic");
  } catch (const std::exception &) {
  }
  return 0;
}
