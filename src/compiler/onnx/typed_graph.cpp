// typed_graph.cpp -- Contract: typed_graph.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/typed_graph.h"

#include <cstring>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

template <class T>
void add_bits(const T &value, std::string *text) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  text->append(bytes, sizeof(T));
}

template <class List>
void add_list(const List &values, std::string *text) {
  for (const auto &value : values) add_bits(value, text);
}

}  // namespace

const std::shared_ptr<const Tensor> &OnnxTensor::tensor() const {
  if (!tensor_) throw Refusal(refusal_);
  return tensor_;
}

void OnnxAttribute::refuse(const char *accepted) const {
  throw Refusal("attribute " + quote(name_) + " has the wrong type; accepted: " + accepted);
}

std::string onnx_type_name(int type) {
  switch (type) {
#define RNNPACK_ONNX_TYPE(name, onnx, code) \
  case code:                                \
    return #onnx;
    RNNPACK_ONNX_TYPES(RNNPACK_ONNX_TYPE)
#undef RNNPACK_ONNX_TYPE
    default:
      return "";
  }
}

std::string attribute_key(const OnnxAttribute &attribute) {
  std::string text = attribute.name() + ":" + std::to_string(attribute.type()) + ":";
  switch (attribute.type()) {
    case OnnxAttribute::kInt:
      text += std::to_string(attribute.i());
      break;
    case OnnxAttribute::kFloat:
      add_bits(attribute.f(), &text);
      break;
    case OnnxAttribute::kString:
      text += attribute.s();
      break;
    case OnnxAttribute::kTensor:
      text += std::to_string(attribute.t().data_type()) + shape_text(attribute.t().dims());
      add_list(attribute.t().tensor()->data, &text);
      break;
    case OnnxAttribute::kInts:
      add_list(attribute.ints(), &text);
      break;
    case OnnxAttribute::kFloats:
      add_list(attribute.floats(), &text);
      break;
    case OnnxAttribute::kStrings:
      for (const std::string &each : attribute.strings()) text += std::to_string(each.size()) + ":" + each;
      break;
    case OnnxAttribute::kGraph:
    case OnnxAttribute::kOther:
      break;
  }
  return text;
}

}  // namespace rnnp::compiler
