// typed_graph.h -- a model's graph as every pass sees it: nodes, attributes of their own type, constants that were read once. Files
// of all formats end up here; read_proto.h makes it from an ONNX file's messages. Accessors are named as ONNX names its fields.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_TYPED_GRAPH_H_
#define RNNPACK_COMPILER_ONNX_TYPED_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/onnx/onnx_type.h"
#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

// A list whose elements keep their address while others come and go.
template <class T>
class StableList {
  using Owned = std::vector<std::unique_ptr<T>>;

 public:
  template <class At, class Element>
  struct Iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Element *;
    using reference = Element &;
    At at;
    Element &operator*() const { return **at; }
    Element *operator->() const { return at->get(); }
    Iterator &operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) { return {at++}; }
    bool operator==(const Iterator &other) const { return at == other.at; }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };

  StableList() = default;
  StableList(const StableList &other) { *this = other; }
  StableList(StableList &&) = default;
  StableList &operator=(StableList &&) = default;
  StableList &operator=(const StableList &other) {
    Owned copy;
    for (const T &each : other) copy.push_back(std::make_unique<T>(each));
    owned_ = std::move(copy);
    return *this;
  }
  ~StableList() = default;

  int size() const { return static_cast<int>(owned_.size()); }
  T &operator[](int i) { return *owned_[static_cast<size_t>(i)]; }
  const T &operator[](int i) const { return *owned_[static_cast<size_t>(i)]; }
  T *add() { return owned_.emplace_back(std::make_unique<T>()).get(); }
  void erase(int i) { owned_.erase(owned_.begin() + i); }

  auto begin() { return Iterator<typename Owned::iterator, T>{owned_.begin()}; }
  auto end() { return Iterator<typename Owned::iterator, T>{owned_.end()}; }
  auto begin() const { return Iterator<typename Owned::const_iterator, const T>{owned_.begin()}; }
  auto end() const { return Iterator<typename Owned::const_iterator, const T>{owned_.end()}; }

 private:
  Owned owned_;
};

// A constant of the file: an initializer of a body, or an attribute.
class OnnxTensor {
 public:
  OnnxTensor() = default;
  OnnxTensor(std::string name, int type, Shape dims, std::shared_ptr<const Tensor> tensor, std::string refusal)
      : name_(std::move(name)), type_(type), dims_(std::move(dims)), tensor_(std::move(tensor)), refusal_(std::move(refusal)) {}

  const std::string &name() const { return name_; }
  int data_type() const { return type_; }  // OnnxType
  const Shape &dims() const { return dims_; }
  // Throws Refusal where the file holds what cannot be read.
  const std::shared_ptr<const Tensor> &tensor() const;

 private:
  std::string name_;
  int type_ = kOnnxUndefined;
  Shape dims_;
  std::shared_ptr<const Tensor> tensor_;
  std::string refusal_;
};

class OnnxGraph;

class OnnxAttribute {
 public:
  // What it holds; kOther: what no operator here has.
  enum Kind : uint8_t { kOther, kInt, kFloat, kString, kTensor, kGraph, kInts, kFloats, kStrings };
  using Value = std::variant<std::monostate, int64_t, float, std::string, OnnxTensor, std::shared_ptr<const OnnxGraph>,
                             std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;

  OnnxAttribute(std::string name, Value value) : name_(std::move(name)), value_(std::move(value)) {}

  const std::string &name() const { return name_; }
  Kind type() const { return static_cast<Kind>(value_.index()); }
  // Each throws Refusal where it holds another kind.
  int64_t i() const { return held<kInt>("an integer"); }
  float f() const { return held<kFloat>("a float"); }
  const std::string &s() const { return held<kString>("a string"); }
  const OnnxTensor &t() const { return held<kTensor>("a tensor"); }
  const OnnxGraph &g() const { return *held<kGraph>("a graph"); }
  const std::vector<int64_t> &ints() const { return held<kInts>("a list of integers"); }
  const std::vector<float> &floats() const { return held<kFloats>("a list of floats"); }
  const std::vector<std::string> &strings() const { return held<kStrings>("a list of strings"); }

 private:
  template <Kind kKind>
  const std::variant_alternative_t<kKind, Value> &held(const char *accepted) const {
    const auto *value = std::get_if<kKind>(&value_);
    if (value == nullptr) refuse(accepted);
    return *value;
  }
  [[noreturn]] void refuse(const char *accepted) const;

  std::string name_;
  Value value_;
};

class OnnxNode {
 public:
  const std::string &op_type() const { return op_type_; }
  const std::string &domain() const { return domain_; }
  const std::string &name() const { return name_; }
  const std::vector<std::string> &input() const { return inputs_; }
  const std::string &input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  int input_size() const { return static_cast<int>(inputs_.size()); }
  const std::vector<std::string> &output() const { return outputs_; }
  const std::string &output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  int output_size() const { return static_cast<int>(outputs_.size()); }
  const std::vector<OnnxAttribute> &attribute() const { return attributes_; }

  void set_op_type(const std::string &type) { op_type_ = type; }
  void set_domain(const std::string &domain) { domain_ = domain; }
  void set_name(const std::string &name) { name_ = name; }
  void set_input(int i, const std::string &name) { inputs_[static_cast<size_t>(i)] = name; }
  void add_input(const std::string &name) { inputs_.push_back(name); }
  std::vector<std::string> *mutable_input() { return &inputs_; }
  void set_output(int i, const std::string &name) { outputs_[static_cast<size_t>(i)] = name; }
  void add_output(const std::string &name) { outputs_.push_back(name); }
  std::vector<std::string> *mutable_output() { return &outputs_; }
  void add_attribute(const std::string &name, OnnxAttribute::Value value) { attributes_.emplace_back(name, std::move(value)); }
  std::vector<OnnxAttribute> *mutable_attribute() { return &attributes_; }

 private:
  std::string op_type_, domain_, name_;
  std::vector<std::string> inputs_, outputs_;
  std::vector<OnnxAttribute> attributes_;
};

// What the file declares of an input, an output or a tensor inside.
class OnnxValue {
 public:
  // A size, or the name of an open one; neither where nothing is said.
  struct Dim {
    bool has_value = false;
    int64_t value = 0;
    std::string name;
  };
  struct Type {
    int elem_type = kOnnxUndefined;
    bool has_shape = false;
    std::vector<Dim> dims;
  };

  explicit OnnxValue(std::string name) : name_(std::move(name)) {}
  OnnxValue(std::string name, bool is_tensor, Type type) : name_(std::move(name)), is_tensor_(is_tensor), type_(std::move(type)) {}

  const std::string &name() const { return name_; }
  bool is_tensor() const { return is_tensor_; }
  const Type &type() const { return type_; }

 private:
  std::string name_;
  bool is_tensor_ = false;
  Type type_;
};

class OnnxGraph {
 public:
  const StableList<OnnxNode> &node() const { return nodes_; }
  const OnnxNode &node(int i) const { return nodes_[i]; }
  int node_size() const { return nodes_.size(); }
  StableList<OnnxNode> *mutable_node() { return &nodes_; }
  OnnxNode *add_node() { return nodes_.add(); }

  const std::vector<OnnxTensor> &initializer() const { return initializers_; }
  std::vector<OnnxTensor> *mutable_initializer() { return &initializers_; }
  // Of a body; nothing here reads them.
  bool has_sparse_initializers() const { return has_sparse_; }
  void set_has_sparse_initializers(bool has) { has_sparse_ = has; }

  const std::vector<OnnxValue> &input() const { return inputs_; }
  const OnnxValue &input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  int input_size() const { return static_cast<int>(inputs_.size()); }
  std::vector<OnnxValue> *mutable_input() { return &inputs_; }
  const std::vector<OnnxValue> &output() const { return outputs_; }
  const OnnxValue &output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  int output_size() const { return static_cast<int>(outputs_.size()); }
  std::vector<OnnxValue> *mutable_output() { return &outputs_; }
  const std::vector<OnnxValue> &value_info() const { return value_infos_; }
  std::vector<OnnxValue> *mutable_value_info() { return &value_infos_; }

 private:
  StableList<OnnxNode> nodes_;
  std::vector<OnnxTensor> initializers_;
  std::vector<OnnxValue> inputs_, outputs_, value_infos_;
  bool has_sparse_ = false;
};

// The node's name, or its first output's where it has none; of a file's message, too.
template <class Node>
std::string node_title(const Node &node) {
  if (!node.name().empty()) return node.name();
  for (const std::string &name : node.output()) {
    if (!name.empty()) return name;
  }
  return "unnamed";
}

// The attribute's type and value as text: equal for equal attributes. Not for graphs.
std::string attribute_key(const OnnxAttribute &attribute);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_TYPED_GRAPH_H_
