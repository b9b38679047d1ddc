// fuzz_tflite.cpp -- libFuzzer target of the TensorFlow Lite front end: any bytes give a blob or a refusal, in bounded memory.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "compiler/tflite/tflite_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace rnnp::compiler;
  std::string file(reinterpret_cast<const char *>(data), size);
  if (file.size() >= 8) file.replace(4, 4, "TFL3");  // other files are refused at once
  try {
    const auto model = tflite_models().read({reinterpret_cast<const uint8_t *>(file.data()), file.size(), nullptr}, {});
    CompileOptions how;
    for (const auto &state : model->states) how.states.push_back({state.first, state.second});
    compile_model(*model, how);
  } catch (const ModelError &) {
  }
  return 0;
}
