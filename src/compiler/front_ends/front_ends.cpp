// front_ends.cpp -- Contract: front_ends.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/front_ends/front_ends.h"

#include <string_view>
#include <utility>

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

bool is_safetensors(std::string_view bytes) {
  uint64_t header = 0;  // its length stands first, little-endian
  for (size_t i = 8; i-- > 0 && bytes.size() > 8;) header = header << 8 | static_cast<uint8_t>(bytes[i]);
  return header > 1 && header <= bytes.size() - 8 && bytes[8] == '{';
}

// Files that people try: what they are, and what to do with them. nullptr for all others.
const char *unread(const ModelFile &file) {
  static const char *const kPickle = "a pickle, as old files of PyTorch: export the network to ONNX (docs/EXPORTING.md)";
  static const std::pair<std::string_view, const char *> kStarts[] = {
      {"\x89HDF\r\n\x1a\n", "HDF5, as Keras' .h5: the Python package reads it, by rnnpack.compile(path) or as a command"},
      {"PK\x03\x04",
       "a zip archive: .keras is read by the Python package, as .h5; a network of PyTorch has to be exported (docs/EXPORTING.md)"},
      {"\x80\x02", kPickle},
      {"\x80\x03", kPickle},
      {"\x80\x04", kPickle},
      {"\x80\x05", kPickle},
      {"GGUF", "GGUF, weights of a language model: export the network to ONNX"},
      {"\x93NUMPY", "an array of NumPy"},
  };
  const std::string_view bytes(reinterpret_cast<const char *>(file.bytes), file.size);
  for (const auto &start : kStarts) {
    if (bytes.substr(0, start.first.size()) == start.first) return start.second;
  }
  return is_safetensors(bytes) ? "safetensors, weights alone: rnnpack.from_weights of the Python package reads them" : nullptr;
}

bool is_unread(const ModelFile &file) {
  return unread(file) != nullptr;
}

std::unique_ptr<OnnxModel> refuse(const ModelFile &file, const ReadOptions &) {
  throw ModelError(std::string("the file is not an ONNX model but ") + unread(file));
}

// The first that takes the file reads it; what no other one takes is ONNX, or nothing.
const FrontEnd *front_end_of(const ModelFile &file) {
  static const FrontEnd kOnnx = {"ONNX", is_anything, read_onnx}, kUnread = {"unknown", is_unread, refuse};
  static const FrontEnd *const kFrontEnds[] = {&json_models(), &tflite_models(), &kUnread, &kOnnx};
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
