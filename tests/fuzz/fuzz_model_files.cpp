// fuzz_model_files.cpp -- libFuzzer target of the front ends for JSON: any bytes give a blob or a refusal, in bounded memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"
#include "compiler/front_ends/front_ends.h"
#include "compiler/onnx/problem.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const auto model = rnnp::compiler::read_model_file({data, size, nullptr});
    rnnp::compiler::compile_model(*model, "generic");
  } catch (const rnnp::compiler::ModelError &) {
  }
  return 0;
}
