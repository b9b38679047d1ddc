// uses.h -- who makes and who reads each name of a graph, and which nodes only take something out of it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_USES_H_
#define RNNPACK_COMPILER_ONNX_USES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

class Uses {
 public:
  explicit Uses(const OnnxModel &model);

  // The node of this operator with so many inputs that makes the name alone; nullptr otherwise.
  const OnnxNode *maker(const std::string &name, const char *op, int inputs) const;
  const OnnxNode *any_maker(const std::string &name) const;
  const std::vector<const OnnxNode *> &readers(const std::string &name) const;
  // The graph input that a name is a part of; empty when it is computed.
  std::string root(std::string name) const;
  // The graph's outputs that a name goes to through moves alone.
  std::set<std::string> outputs_of(const std::string &name) const;
  // True when the node only takes its input on towards outputs of the graph: a state on its way out.
  bool leads_out(const OnnxNode &node) const { return leads_out_.count(&node) != 0; }

 private:
  bool takes_out(const OnnxNode &node) const;

  std::set<std::string> inputs_, outputs_;
  std::map<std::string, const OnnxNode *> maker_;
  std::map<std::string, std::vector<const OnnxNode *>> readers_;
  std::set<const OnnxNode *> leads_out_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_USES_H_
