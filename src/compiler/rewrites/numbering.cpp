// numbering.cpp -- Contract: numbering.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/numbering.h"

#include <algorithm>
#include <cstring>

#include "compiler/eval/eval.h"
#include "compiler/onnx/attributes.h"

namespace rnnp::compiler {
namespace {

uint64_t hash_of(const Tensor &t) {
  uint64_t hash = 14695981039346656037u;
  t.data.numbers().as_they_are([&](const auto *numbers) {
    for (size_t i = 0; i < t.data.size(); ++i) {
      const double number = static_cast<double>(numbers[i]);
      uint64_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
    }
  });
  return hash;
}

bool same_bits(const Tensor &a, const Tensor &b) {
  return a.elem == b.elem && a.shape == b.shape && a.dims == b.dims && a.file_type == b.file_type && a.steps == b.steps &&
         same_bits(a.data, b.data);
}

// Empty for what does not give the same for the same operands, or reads more than its inputs.
std::string kind_of(const OnnxNode &node) {
  if (node.op_type().find("Random") == 0 || node.op_type() == "Multinomial" || node.op_type() == "Bernoulli") return "";
  std::vector<std::string> attributes;
  for (const OnnxAttribute &attribute : node.attribute()) {
    if (attribute.type() == OnnxAttribute::kGraph || attribute.type() == OnnxAttribute::kOther) return "";
    attributes.push_back(attribute_key(attribute));
  }
  std::sort(attributes.begin(), attributes.end());
  std::string kind = node.domain() + ":" + node.op_type() + ":" + std::to_string(node.output_size());
  for (const std::string &attribute : attributes) kind += "|" + std::to_string(attribute.size()) + ":" + attribute;
  return kind;
}

}  // namespace

Numbering::Numbering(const OnnxModel &model) : opset_(model.opset) {
  for (const DeclaredInput &input : model.inputs) {
    Value value;
    value.name = input.name;
    numbers_[input.name] = add(std::move(value));
  }
  for (const auto &each : model.constants) numbers_[each.first] = constant(each.first, each.second);
  for (size_t i = 0; i < model.nodes.size(); ++i) read(*model.nodes[i], i);
}

int Numbering::add(Value value) {
  values_.push_back(std::move(value));
  return static_cast<int>(values_.size()) - 1;
}

int Numbering::constant(const std::string &name, std::shared_ptr<const Tensor> tensor) {
  const uint64_t hash = hash_of(*tensor);
  const auto range = constants_.equal_range(hash);
  for (auto at = range.first; at != range.second; ++at) {
    if (same_bits(*value(at->second).constant, *tensor)) return at->second;
  }
  Value made;
  made.name = name;
  made.constant = std::move(tensor);
  made.fixed = true;
  const int number = add(std::move(made));
  constants_.emplace(hash, number);
  return number;
}

std::string Numbering::key(const std::string &kind, const std::vector<int> &in) {
  std::string text = kind;
  for (const int number : in) text += "," + std::to_string(number);
  return text;
}

void Numbering::read(const OnnxNode &node, size_t place) {
  if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1 && numbers_.count(node.input(0)) != 0) {
    numbers_[node.output(0)] = numbers_.at(node.input(0));
    return;
  }
  Op op;
  op.node = &node;
  op.place = place;
  op.kind = kind_of(node);
  bool fixed = find_eval(node.op_type()) != nullptr && !op.kind.empty();
  for (const std::string &name : node.input()) {
    const auto found = numbers_.find(name);
    const bool absent = name.empty() || found == numbers_.end();
    op.in.push_back(absent ? -1 : found->second);
    if (!name.empty() && found == numbers_.end()) op.kind.clear();
    fixed = fixed && (name.empty() || (!absent && value(found->second).fixed));
  }
  const std::string text = key(op.kind, op.in);
  const auto known = op.kind.empty() ? known_.end() : known_.find(text);
  if (known != known_.end()) {
    const Op &other = ops_[static_cast<size_t>(known->second)];
    for (int i = 0; i < node.output_size(); ++i) numbers_[node.output(i)] = other.out[static_cast<size_t>(i)];
    return;
  }
  const int index = static_cast<int>(ops_.size());
  for (int i = 0; i < node.output_size(); ++i) {
    Value made;
    made.name = node.output(i);
    made.op = index;
    made.index = i;
    made.fixed = fixed;
    op.out.push_back(add(std::move(made)));
    numbers_[node.output(i)] = op.out.back();
  }
  if (!op.kind.empty()) known_[text] = index;
  ops_.push_back(std::move(op));
}

const Numbering::Op *Numbering::like(const Op &op, const std::vector<int> &in) const {
  const auto found = op.kind.empty() ? known_.end() : known_.find(key(op.kind, in));
  return found == known_.end() ? nullptr : &ops_[static_cast<size_t>(found->second)];
}

std::vector<int64_t> Numbering::integers(int number) const {
  if (number < 0 || !value(number).constant || value(number).constant->elem != Elem::kInt) return {};
  return to_ints(*value(number).constant);
}

}  // namespace rnnp::compiler
