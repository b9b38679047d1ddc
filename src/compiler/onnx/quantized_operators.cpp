// quantized_operators.cpp -- operators on integers that have their scales as inputs, as DequantizeLinear, the operator on floats
// and QuantizeLinear. Contract: quantized_graph.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/quantized_graph.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

class LinearOperator {
 public:
  LinearOperator(QuantizedGraph *graph, OnnxNode *node) : graph_(*graph), node_(*node), title_(node_title(*node)) {}

  void convolution() {
    need(8);
    const std::string w = weights(3, 0), bias = has(8) ? bias_of(8, 4, 1) : "";
    finish("Conv", with_bias({run_time(0), w}, bias), 6);
  }

  void product() {
    need(8);
    const Tensor *b = graph_.constant(node_, 3);
    finish("MatMul", {run_time(0), weights(3, b == nullptr || b->rank() == 0 ? 0 : b->rank() - 1)}, 6);
  }

  void gemm() {
    need(6);
    const Attributes attributes(node_);
    const std::string b = weights(3, attributes.integer("transB", 0) != 0 ? 0 : 1);
    const std::string c = has(6) ? bias_of(6, 4, attributes.real("alpha", 1)) : "";
    finish("Gemm", with_bias({run_time(0), b}, c), 7);
  }

  void two(const char *op) {
    need(8);
    finish(op, {weights(0, 0), weights(3, 0)}, 6);
  }

  void one(const char *op, const std::vector<std::string> &dropped = {}) {
    need(5);
    const Attributes attributes(node_);
    if (attributes.integer("channels_last", 0) != 0) throw Refusal("attribute 'channels_last' is 1; accepted: 0");
    const int64_t opset = attributes.integer("opset", graph_.model().opset);
    if ((opset < 13) != (graph_.model().opset < 13))
      throw Refusal("attribute 'opset' is " + std::to_string(opset) + ", the model's " + std::to_string(graph_.model().opset));
    drop_attributes(dropped);
    finish(op, {run_time(0)}, 3);
  }

  void mean() {
    const std::vector<int64_t> axes = Attributes(node_).integers("axes");
    need(5);
    std::vector<std::string> inputs = {run_time(0)};
    if (graph_.model().opset >= 18 && !axes.empty()) {
      inputs.push_back(graph_.add_constant(title_ + ":axes", int_tensor(axes)));
      drop_attributes({"axes"});
    }
    finish("ReduceMean", inputs, 3);
  }

  void concat() {
    need(5);
    if (node_.input_size() % 3 != 2) throw Refusal("its inputs are not one scale and zero point and then three for each part");
    std::vector<std::string> parts;
    for (int i = 2; i < node_.input_size(); i += 3) parts.push_back(weights(i, 0));
    finish("Concat", parts, 0);
  }

  void where() {
    need(9);
    finish("Where", {node_.input(0), weights(1, 0), weights(4, 0)}, 7);
  }

  // Chooses among the integers of one input: the same of the floats.
  bool choose() {
    const OnnxNode *source = quantizer(node_.input_size() == 0 ? "" : node_.input(0));
    if (source == nullptr || node_.output_size() != 1) return false;
    const std::vector<std::string> grid(source->input().begin() + 1, source->input().end());
    std::vector<std::string> inputs = {node_.input(0)};
    inputs.insert(inputs.end(), grid.begin(), grid.end());
    const std::string x = graph_.fresh(node_.input(0) + ":float"), y = graph_.fresh(node_.output(0) + ":float");
    graph_.add_node("DequantizeLinear", title_, inputs, x);
    const std::string result = node_.output(0);
    node_.set_input(0, x);
    node_.set_output(0, y);
    inputs[0] = y;
    graph_.add_node("QuantizeLinear", title_, inputs, result);
    return true;
  }

 private:
  bool has(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }
  void need(int count) const {
    if (node_.input_size() < count || node_.output_size() != 1)
      throw Refusal("it has " + std::to_string(node_.input_size()) + " inputs; accepted: " + std::to_string(count) + " or more");
  }

  // What quantizes a tensor, also from before operators that move its elements.
  const OnnxNode *quantizer(std::string name) const {
    static const std::set<std::string> kMoves = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
    constexpr int kMostMoves = 16;
    for (int i = 0; i < kMostMoves; ++i) {
      const OnnxNode *made = graph_.maker(name);
      if (made == nullptr || made->input_size() == 0) return nullptr;
      if (made->op_type() == "QuantizeLinear" && made->attribute().empty()) return made->input_size() > 1 ? made : nullptr;
      if (kMoves.count(made->op_type()) == 0) return nullptr;
      name = made->input(0);
    }
    return nullptr;
  }

  // Input i of integers, with its scale and zero point behind it.
  std::string run_time(int i) {
    std::string x = graph_.fresh(node_.input(i) + ":float");
    std::vector<std::string> inputs = {node_.input(i), node_.input(i + 1)};
    if (has(i + 2)) inputs.push_back(node_.input(i + 2));
    graph_.add_node("DequantizeLinear", title_, inputs, x);
    return x;
  }
  // The same, which may be a constant that has its scales along an axis.
  std::string weights(int i, size_t axis) {
    const Tensor *q = graph_.constant(node_, i);
    if (q == nullptr) return run_time(i);
    return graph_.add_constant(title_ + ":" + node_.input(i),
                               dequantized(*q, graph_.needed(node_, i + 1, "a scale"), graph_.constant(node_, i + 2), axis));
  }

  // Integers of 32 bits, whose scale is the product of those of x and of the weights.
  std::string bias_of(int i, int w_scale, double factor) {
    const Tensor &q = graph_.needed(node_, i, "B"), &x = graph_.needed(node_, 1, "a scale"),
                 &w = graph_.needed(node_, w_scale, "a scale");
    if (x.size() != 1) throw Refusal("the scale of its x has shape " + shape_text(x.shape) + "; accepted: one number");
    Tensor scale = w;
    for (double &s : scale.data) s *= x.data[0] * factor;
    return graph_.add_constant(title_ + ":" + node_.input(i), dequantized(q, scale, nullptr, q.rank() == 0 ? 0 : q.rank() - 1));
  }
  static std::vector<std::string> with_bias(std::vector<std::string> inputs, const std::string &bias) {
    if (!bias.empty()) inputs.push_back(bias);
    return inputs;
  }

  void drop_attributes(const std::vector<std::string> &names) {
    std::vector<OnnxAttribute> *all = node_.mutable_attribute();
    const auto named = [&](const OnnxAttribute &each) { return std::find(names.begin(), names.end(), each.name()) != names.end(); };
    all->erase(std::remove_if(all->begin(), all->end(), named), all->end());
  }

  // The node on floats, and the grid of its result: inputs `grid` and the one behind it. Without a scale it is a float.
  void finish(const char *op, const std::vector<std::string> &inputs, int grid) {
    if (has(grid)) {
      const std::string y = node_.output(0), plain = graph_.fresh(y + ":float");
      std::vector<std::string> quantize = {plain, node_.input(grid)};
      if (has(grid + 1)) quantize.push_back(node_.input(grid + 1));
      graph_.add_node("QuantizeLinear", title_, quantize, y);
      node_.set_output(0, plain);
    }
    node_.set_op_type(op);
    node_.set_domain("");
    node_.mutable_input()->clear();
    for (const std::string &name : inputs) node_.add_input(name);
  }

  QuantizedGraph &graph_;
  OnnxNode &node_;
  const std::string title_;
};

using Replace = void (*)(LinearOperator *);
const std::map<std::string, Replace> &linear_operators() {
  static const std::map<std::string, Replace> kOperators = {
      {"QLinearConv", [](LinearOperator *o) { o->convolution(); }},
      {"QLinearMatMul", [](LinearOperator *o) { o->product(); }},
      {"QGemm", [](LinearOperator *o) { o->gemm(); }},
      {"QLinearAdd", [](LinearOperator *o) { o->two("Add"); }},
      {"QLinearMul", [](LinearOperator *o) { o->two("Mul"); }},
      {"QLinearSigmoid", [](LinearOperator *o) { o->one("Sigmoid"); }},
      {"QLinearLeakyRelu", [](LinearOperator *o) { o->one("LeakyRelu"); }},
      {"QLinearSoftmax", [](LinearOperator *o) { o->one("Softmax", {"opset"}); }},
      {"QLinearAveragePool", [](LinearOperator *o) { o->one("AveragePool", {"channels_last"}); }},
      {"QLinearGlobalAveragePool", [](LinearOperator *o) { o->one("GlobalAveragePool", {"channels_last"}); }},
      {"QLinearReduceMean", [](LinearOperator *o) { o->mean(); }},
      {"QLinearConcat", [](LinearOperator *o) { o->concat(); }},
      {"QLinearWhere", [](LinearOperator *o) { o->where(); }},
  };
  return kOperators;
}

}  // namespace

bool replace_linear_operator(QuantizedGraph *graph, OnnxNode *node) {
  const bool standard = node->domain().empty() || node->domain() == "ai.onnx", microsoft = node->domain() == "com.microsoft";
  if (microsoft && (node->op_type() == "QuantizeLinear" || node->op_type() == "DequantizeLinear")) {
    node->set_domain("");
    return true;
  }
  const auto found = linear_operators().find(node->op_type());
  if (found == linear_operators().end() || !(standard || microsoft)) return false;
  LinearOperator replaced(graph, node);
  found->second(&replaced);
  return true;
}

bool replace_choice(QuantizedGraph *graph, OnnxNode *node) {
  static const std::set<std::string> kChoices = {"DepthToSpace", "Expand", "Gather", "MaxPool", "Slice", "SpaceToDepth", "Tile"};
  const bool standard = node->domain().empty() || node->domain() == "ai.onnx";
  return standard && kChoices.count(node->op_type()) != 0 && LinearOperator(graph, node).choose();
}

}  // namespace rnnp::compiler
