// front_end.h -- what reads one kind of model file. It tells its kind by the content and makes of it the graph that an ONNX file of
// the same network would be, so everything behind it is the same for all. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_FRONT_END_H_
#define RNNPACK_COMPILER_ONNX_FRONT_END_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

struct ModelFile {
  const uint8_t *bytes = nullptr;
  size_t size = 0;
  const std::string *folder = nullptr;  // where files that it names are looked for; null: they are refused
};

struct ReadOptions {
  std::optional<double> quality;  // which of the networks that a file holds: 0 the smallest, 1 the best
};

struct FrontEnd {
  const char *name;  // "TensorFlow Lite"
  // From a few bytes, or none of them: is the file of this kind, be it damaged? Throws nothing.
  bool (*detect)(const ModelFile &file);
  // Throws ModelError, which names what is wrong; memory and time are bounded by the file's size.
  std::unique_ptr<OnnxModel> (*read)(const ModelFile &file, const ReadOptions &options);
  bool has_quality = false;  // it may hold several networks
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_FRONT_END_H_
