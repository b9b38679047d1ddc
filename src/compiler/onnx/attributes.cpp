// attributes.cpp -- Contract: attributes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/attributes.h"

#include "compiler/onnx/problem.h"
#include "compiler/onnx/typed_graph.h"

namespace rnnp::compiler {

const OnnxAttribute *Attributes::find(const char *name) const {
  for (const OnnxAttribute &attribute : node_->attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const OnnxAttribute *Attributes::typed(const char *name, int type, const char *type_name) const {
  const OnnxAttribute *attribute = find(name);
  if (attribute && attribute->type() != type) {
    throw Refusal("attribute '" + std::string(name) + "' has the wrong type; accepted: " + type_name);
  }
  return attribute;
}

int64_t Attributes::integer(const char *name, int64_t otherwise) const {
  const OnnxAttribute *found = typed(name, OnnxAttribute::kInt, "an integer");
  return found ? found->i() : otherwise;
}

double Attributes::real(const char *name, double otherwise) const {
  const OnnxAttribute *found = typed(name, OnnxAttribute::kFloat, "a float");
  return found ? static_cast<double>(found->f()) : otherwise;
}

std::string Attributes::text(const char *name, const std::string &otherwise) const {
  const OnnxAttribute *found = typed(name, OnnxAttribute::kString, "a string");
  return found ? found->s() : otherwise;
}

std::vector<int64_t> Attributes::integers(const char *name) const {
  const OnnxAttribute *found = typed(name, OnnxAttribute::kInts, "a list of integers");
  return found ? std::vector<int64_t>(found->ints().begin(), found->ints().end()) : std::vector<int64_t>();
}

std::vector<double> Attributes::reals(const char *name) const {
  const OnnxAttribute *found = typed(name, OnnxAttribute::kFloats, "a list of floats");
  return found ? std::vector<double>(found->floats().begin(), found->floats().end()) : std::vector<double>();
}

std::vector<std::string> Attributes::texts(const char *name) const {
  const OnnxAttribute *found = typed(name, OnnxAttribute::kStrings, "a list of strings");
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end()) : std::vector<std::string>();
}

}  // namespace rnnp::compiler
