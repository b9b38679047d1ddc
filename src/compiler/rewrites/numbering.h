// numbering.h -- the values of an ONNX graph by number: names that are computed alike have one, and so have equal constants.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_NUMBERING_H_
#define RNNPACK_COMPILER_REWRITES_NUMBERING_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

class Numbering {
 public:
  struct Op {
    const OnnxNode *node = nullptr;
    size_t place = 0;     // among the model's nodes
    std::string kind;     // operator and attributes; empty where no other node is like it
    std::vector<int> in;  // -1: absent
    std::vector<int> out;
  };
  // Made by output `index` of operator `op`; by none: a graph input or a constant. Numbers are in order: what a value is computed
  // from comes before it.
  struct Value {
    std::string name;
    int op = -1, index = 0;
    std::shared_ptr<const Tensor> constant;
    bool fixed = false;  // computed from constants alone
  };

  explicit Numbering(const OnnxModel &model);

  int64_t opset() const { return opset_; }
  const std::vector<Op> &ops() const { return ops_; }
  const std::vector<Value> &values() const { return values_; }
  const Value &value(int number) const { return values_[static_cast<size_t>(number)]; }
  const Op *maker(int number) const { return value(number).op < 0 ? nullptr : &ops_[static_cast<size_t>(value(number).op)]; }
  // The operator like this one with other operands; nullptr when there is none.
  const Op *like(const Op &op, const std::vector<int> &in) const;
  // Numbers of a constant of integers; nothing for others.
  std::vector<int64_t> integers(int number) const;

 private:
  int add(Value value);
  int constant(const std::string &name, std::shared_ptr<const Tensor> tensor);
  void read(const OnnxNode &node, size_t place);
  static std::string key(const std::string &kind, const std::vector<int> &in);

  int64_t opset_;
  std::vector<Op> ops_;
  std::vector<Value> values_;
  std::map<std::string, int> numbers_;
  std::unordered_map<std::string, int> known_;  // key -> operator
  std::unordered_multimap<uint64_t, int> constants_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_NUMBERING_H_
