// fuzz_onnx.cpp -- libFuzzer target of the ONNX importer: any bytes give a blob or a ModelError, in bounded memory.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "compiler/compile.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const auto model = rnnp::compiler::parse_model(data, size);
    rnnp::compiler::compile_model(*model, "generic");
  } catch (const rnnp::compiler::ModelError &) {
  }
  return 0;
}
