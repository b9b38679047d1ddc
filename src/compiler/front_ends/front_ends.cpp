// front_ends.cpp -- Contract: front_ends.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/front_ends/front_ends.h"

#include "compiler/front_ends/json_models.h"
#include "compiler/onnx/problem.h"
#include "compiler/tflite/tflite_model.h"

namespace rnnp::compiler {
namespace {

bool is_anything(const ModelFile &) {
  return true;
}

std::unique_ptr<OnnxModel> read_onnx(const ModelFile &file, const ReadOptions &) {
  return parse_model(file.bytes, file.size, file.folder);
}

// The first that takes the file reads it; what no other one takes is ONNX, or nothing.
const FrontEnd *front_end_of(const ModelFile &file) {
  static const FrontEnd kOnnx = {"ONNX", is_anything, read_onnx};
  static const FrontEnd *const kFrontEnds[] = {&json_models(), &tflite_models(), &kOnnx};
  for (const FrontEnd *front : kFrontEnds) {
    if (front->detect(file)) return front;
  }
  return &kOnnx;
}

}  // namespace

std::unique_ptr<OnnxModel> read_model_file(const ModelFile &file, const ReadOptions &options) {
  const FrontEnd *front = front_end_of(file);
  if (options.quality && !front->has_quality)
    throw UsageError(std::string("--quality is of files that hold several networks; this one is of the kind ") + front->name);
  return front->read(file, options);
}

}  // namespace rnnp::compiler
