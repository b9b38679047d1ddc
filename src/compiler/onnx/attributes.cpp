// attributes.cpp -- Contract: attributes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/attributes.h"

#include "compiler/onnx/typed_graph.h"

namespace rnnp::compiler {

const OnnxAttribute *Attributes::find(const char *name) const {
  for (const OnnxAttribute &attribute : node_->attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t Attributes::integer(const char *name, int64_t otherwise) const {
  const OnnxAttribute *found = find(name);
  return found ? found->i() : otherwise;
}

double Attributes::real(const char *name, double otherwise) const {
  const OnnxAttribute *found = find(name);
  return found ? static_cast<double>(found->f()) : otherwise;
}

std::string Attributes::text(const char *name, const std::string &otherwise) const {
  const OnnxAttribute *found = find(name);
  return found ? found->s() : otherwise;
}

std::vector<int64_t> Attributes::integers(const char *name) const {
  const OnnxAttribute *found = find(name);
  return found ? found->ints() : std::vector<int64_t>();
}

std::vector<double> Attributes::reals(const char *name) const {
  const OnnxAttribute *found = find(name);
  return found ? std::vector<double>(found->floats().begin(), found->floats().end()) : std::vector<double>();
}

std::vector<std::string> Attributes::texts(const char *name) const {
  const OnnxAttribute *found = find(name);
  return found ? found->strings() : std::vector<std::string>();
}

}  // namespace rnnp::compiler
