// attributes.h -- typed access to a node's attributes; a wrong type is refused by the attribute's name.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_ATTRIBUTES_H_
#define RNNPACK_COMPILER_ONNX_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace onnx {
class NodeProto;
class AttributeProto;
}  // namespace onnx

namespace rnnp::compiler {

class Attributes {
 public:
  explicit Attributes(const onnx::NodeProto &node) : node_(&node) {}

  bool has(const char *name) const { return find(name) != nullptr; }
  int64_t integer(const char *name, int64_t otherwise) const;
  double real(const char *name, double otherwise) const;
  std::string text(const char *name, const std::string &otherwise) const;
  std::vector<int64_t> integers(const char *name) const;
  std::vector<double> reals(const char *name) const;
  std::vector<std::string> texts(const char *name) const;
  // nullptr when absent.
  const onnx::AttributeProto *find(const char *name) const;

 private:
  const onnx::AttributeProto *typed(const char *name, int type, const char *type_name) const;
  const onnx::NodeProto *node_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_ATTRIBUTES_H_
