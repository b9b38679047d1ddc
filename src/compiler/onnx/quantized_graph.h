// quantized_graph.h -- a model's file while operators on integers are replaced in it: who makes and reads a tensor, constants, and
// new nodes. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_QUANTIZED_GRAPH_H_
#define RNNPACK_COMPILER_ONNX_QUANTIZED_GRAPH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

class QuantizedGraph {
 public:
  explicit QuantizedGraph(OnnxModel *model);

  OnnxModel &model() { return *model_; }
  // Nodes of the file as they were at first; those that are added come behind them.
  OnnxNode *node(int i) { return &(*model_->graph.mutable_node())[i]; }
  int node_count() const { return model_->graph.node_size(); }

  const OnnxNode *maker(const std::string &name) const;
  std::vector<OnnxNode *> readers(const std::string &name) const;
  bool is_output(const std::string &name) const { return outputs_.count(name) != 0; }

  // Initializers, and what Constant and Identity nodes make; nullptr for all else.
  const Tensor *constant(const OnnxNode &node, int input);
  // Throws Refusal where it is none.
  const Tensor &needed(const OnnxNode &node, int input, const char *what);

  // Gives the name that it has in the end.
  std::string add_constant(const std::string &name, Tensor tensor);
  std::string fresh(const std::string &name);
  OnnxNode *add_node(const std::string &op, const std::string &title, const std::vector<std::string> &inputs,
                     const std::string &output);
  // Nodes of these operators whose results nobody reads.
  void drop_unread(const std::set<std::string> &operators);

 private:
  const Tensor *found(const std::string &name, int left);

  OnnxModel *model_;
  std::map<std::string, OnnxNode *> maker_;
  std::map<std::string, std::vector<OnnxNode *>> readers_;
  std::set<std::string> outputs_, names_;
};

// Integers times their scales, which know them (Tensor::steps). One scale and zero point, or one for each index of `axis`; throws
// Refusal for others. `zero`: nullptr where it is 0.
Tensor dequantized(const Tensor &q, const Tensor &scale, const Tensor *zero, size_t axis);

// com.microsoft's and ONNX' operators on integers with scales (QLinearConv, QGemm ...): DequantizeLinear, the operator on floats,
// QuantizeLinear. True for those that it has replaced; throws Refusal.
bool replace_linear_operator(QuantizedGraph *graph, OnnxNode *node);
// So for operators that only choose among the integers that QuantizeLinear gives (MaxPool, Slice ...), once all others are
// replaced.
bool replace_choice(QuantizedGraph *graph, OnnxNode *node);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_QUANTIZED_GRAPH_H_
