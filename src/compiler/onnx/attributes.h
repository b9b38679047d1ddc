// attributes.h -- typed access to a node's attributes; a wrong type is refused by the attribute's name.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_ATTRIBUTES_H_
#define RNNPACK_COMPILER_ONNX_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rnnp::compiler {

class OnnxNode;
class OnnxAttribute;

class Attributes {
 public:
  explicit Attributes(const OnnxNode &node) : node_(&node) {}

  bool has(const char *name) const { return find(name) != nullptr; }
  int64_t integer(const char *name, int64_t otherwise) const;
  double real(const char *name, double otherwise) const;
  std::string text(const char *name, const std::string &otherwise) const;
  std::vector<int64_t> integers(const char *name) const;
  std::vector<double> reals(const char *name) const;
  std::vector<std::string> texts(const char *name) const;
  // nullptr when absent.
  const OnnxAttribute *find(const char *name) const;

 private:
  const OnnxNode *node_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_ATTRIBUTES_H_
