// quantized_forms.cpp -- Contract: quantized_forms.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/quantized_forms.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/quantized_graph.h"
#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {
namespace {

// [outer][rows][columns] of integers, each column of each outer index with a scale and a zero point, as floats; or with rows and
// columns changed about.
struct Columns {
  const Tensor &q, &scale;
  const Tensor *zero;

  size_t place(int64_t outer, int64_t column, const Tensor &of) const {
    if (of.size() == 1) return 0;
    const int64_t columns = q.shape.back();
    return static_cast<size_t>(of.rank() == 2 || columns == of.size() ? (of.rank() == 2 ? outer * columns : 0) + column : outer);
  }

  Tensor floats(bool transposed) const {
    const size_t rank = q.rank();
    const int64_t rows = q.shape[rank - 2], columns = q.shape[rank - 1];
    Shape shape = q.shape;
    if (transposed) std::swap(shape[rank - 2], shape[rank - 1]);
    Tensor out(Elem::kFloat, shape, kMaxTensorElems);
    out.file_type = q.file_type;
    out.steps.resize(out.data.size());
    for (int64_t i = 0; i < q.size(); ++i) {
      const int64_t o = i / (rows * columns), r = i / columns % rows, c = i % columns;
      const double step = scale.data[place(o, c, scale)], origin = zero == nullptr ? 0 : zero->data[place(o, c, *zero)];
      const size_t to = static_cast<size_t>(transposed ? (o * columns + c) * rows + r : i);
      out.data[to] = static_cast<double>(static_cast<float>((q.data[static_cast<size_t>(i)] - origin) * step));
      out.steps[to] = static_cast<float>(step);
    }
    return out;
  }
};

class Replacer {
 public:
  Replacer(OnnxModel *model, Problems *problems) : graph_(model), problems_(problems) {}

  void run() {
    const int count = graph_.node_count();
    for (int i = 0; i < count; ++i) replace(graph_.node(i), [this](OnnxNode *node) { return replace_linear(node); });
    for (int i = 0; i < count; ++i) replace(graph_.node(i), [this](OnnxNode *node) { return replace_dynamic(node); });
    for (int i = 0; i < count; ++i) replace(graph_.node(i), [this](OnnxNode *node) { return replace_choice(&graph_, node); });
    if (any_)
      graph_.drop_unread(
          {"DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "Cast", "Mul", "Add", "Reshape", "Floor", "Div"});
  }

 private:
  template <typename Function>
  void replace(OnnxNode *node, Function function) {
    const std::string title = node_title(*node), op = node->op_type();
    const auto refusal = refusal_of([&] { any_ = function(node) || any_; });
    if (refusal) problems_->add(title, op, *refusal);
  }
  bool replace_linear(OnnxNode *node) { return replace_linear_operator(&graph_, node); }

  bool replace_dynamic(OnnxNode *node) {
    const std::string &op = node->op_type();
    const bool microsoft = node->domain() == "com.microsoft";
    if (microsoft && op == "DynamicQuantizeLSTM") {
      plain_lstm(node);
    } else if (node->input_size() == 0) {
      return false;
    } else if (microsoft && op == "DynamicQuantizeMatMul") {
      plain_matmul(node, {node->input(0), 2, 3, 4});
    } else if (microsoft && op == "MatMulIntegerToFloat") {
      plain_matmul(node, {unquantized(*node, 2, 4), 3, 5, 6});
    } else if (op == "MatMulInteger" || op == "ConvInteger") {
      integer_product(node);
    } else if (op == "DequantizeLinear" && dynamic_source(*node) != nullptr) {
      plain_copy(node);
    } else {
      return false;
    }
    return true;
  }

  static void check_scales(const Tensor &q, const Tensor &t, const char *what) {
    const int64_t outer = q.rank() == 3 ? q.shape[0] : 1, columns = q.shape.back();
    if (t.size() == 1 || (t.rank() == 1 && t.size() == (q.rank() == 3 ? outer : columns)) ||
        (t.rank() == 2 && t.shape == Shape{outer, columns}))
      return;
    throw Refusal(std::string(what) + " has shape " + shape_text(t.shape) + ", which does not fit weights of shape " +
                  shape_text(q.shape));
  }

  std::string add_columns(const OnnxNode &node, const char *which, const Columns &columns) {
    check_scales(columns.q, columns.scale, "a scale");
    if (columns.zero != nullptr) check_scales(columns.q, *columns.zero, "a zero point");
    return graph_.add_constant(node_title(node) + ":" + which, columns.floats(true));
  }

  // X, W [D][I][4H], R [D][H][4H], B, lengths, h, c, P, then scale and zero point of W and of R.
  void plain_lstm(OnnxNode *node) {
    if (node->input_size() < 12) throw Refusal("it has " + std::to_string(node->input_size()) + " inputs; accepted: 12");
    const Tensor &w = graph_.needed(*node, 1, "W"), &r = graph_.needed(*node, 2, "R");
    if (w.rank() != 3 || r.rank() != 3 || w.elem != Elem::kInt || r.elem != Elem::kInt)
      throw Refusal("W and R have shapes " + shape_text(w.shape) + " and " + shape_text(r.shape) +
                    "; accepted: integers, [directions, inputs, gates]");
    const std::string plain_w = add_columns(*node, "W", {w, graph_.needed(*node, 8, "W_scale"), graph_.constant(*node, 9)});
    const std::string plain_r = add_columns(*node, "R", {r, graph_.needed(*node, 10, "R_scale"), graph_.constant(*node, 11)});
    node->set_op_type("LSTM");
    node->set_domain("");
    node->set_input(1, plain_w);
    node->set_input(2, plain_r);
    node->mutable_input()->resize(8);
  }

  static Refusal no_chain() {
    return Refusal(
        "it is not part of the chain DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, Mul; accepted: that chain, with a "
        "bias over the scales added in front of Cast or without, or QuantizeLinear in front");
  }
  // nullptr where there are others, or none of the operator.
  OnnxNode *reader_of(const OnnxNode &node, const char *op) const {
    const std::vector<OnnxNode *> readers = graph_.readers(node.output(0));
    const bool is_only = !graph_.is_output(node.output(0)) && readers.size() == 1 && readers[0]->output_size() == 1;
    return is_only && readers[0]->op_type() == op ? readers[0] : nullptr;
  }
  OnnxNode *only_reader(const OnnxNode &node, const char *op) const {
    OnnxNode *reader = reader_of(node, op);
    if (reader == nullptr) throw no_chain();
    return reader;
  }
  const OnnxNode &only_maker(const std::string &name, const char *op, int inputs) const {
    const OnnxNode *maker = graph_.maker(name);
    if (maker == nullptr || maker->op_type() != op || maker->input_size() != inputs) throw no_chain();
    return *maker;
  }

  // The DynamicQuantizeLinear whose integers and zero point the node has as its inputs 0 and 2; nullptr for others.
  const OnnxNode *dynamic_source(const OnnxNode &node, int zero = 2) const {
    const OnnxNode *source = node.input_size() == 0 ? nullptr : graph_.maker(node.input(0));
    if (source == nullptr || source->op_type() != "DynamicQuantizeLinear" || source->output_size() < 3 || source->input_size() != 1)
      return nullptr;
    const bool same = zero < node.input_size() && node.input(zero) == source->output(2) && node.input(0) == source->output(0);
    return same ? source : nullptr;
  }

  void plain_copy(OnnxNode *node) {
    const OnnxNode *source = dynamic_source(*node);
    if (node->input(1) != source->output(1)) throw Refusal("its scale is not that of the DynamicQuantizeLinear before it");
    const std::string x = source->input(0);
    node->set_op_type("Identity");
    node->set_domain("");
    node->mutable_attribute()->clear();
    node->mutable_input()->clear();
    node->add_input(x);
  }

  // Integers as the floats that they stand for: the tensor before DynamicQuantizeLinear, or behind DequantizeLinear.
  std::string unquantized(const OnnxNode &node, int scale, int zero) {
    if (const OnnxNode *source = dynamic_source(node, zero)) {
      if (node.input(scale) == source->output(1)) return source->input(0);
    }
    if (node.input_size() <= scale) throw Refusal("it has " + std::to_string(node.input_size()) + " inputs; it needs more");
    std::vector<std::string> inputs = {node.input(0), node.input(scale)};
    if (zero < node.input_size() && !node.input(zero).empty()) inputs.push_back(node.input(zero));
    std::string x = graph_.fresh(node.input(0) + ":float");
    graph_.add_node("DequantizeLinear", node_title(node), inputs, x);
    return x;
  }

  // Where a product of a float tensor has its weights' scale, zero point and bias.
  struct Places {
    std::string x;
    int scale, zero, bias;
  };
  void plain_matmul(OnnxNode *node, const Places &at) {
    if (node->input_size() <= at.scale || node->output_size() != 1) throw Refusal("it needs weights with a scale, and one output");
    const Tensor &q = graph_.needed(*node, 1, "B");
    const std::string title = node_title(*node), y = node->output(0);
    const std::string b = graph_.add_constant(title + ":B", dequantized(q, graph_.needed(*node, at.scale, "the scale of B"),
                                                                        graph_.constant(*node, at.zero), last_axis(q)));
    const bool biased = at.bias < node->input_size() && !node->input(at.bias).empty();
    if (biased) {
      const std::string product = graph_.fresh(y + ":product");
      graph_.add_node("Add", title, {product, node->input(at.bias)}, y);
      node->set_output(0, product);
    }
    become(node, "MatMul", {at.x, b});
  }

  static size_t last_axis(const Tensor &t) { return t.rank() == 0 ? 0 : t.rank() - 1; }

  static void become(OnnxNode *node, const char *op, const std::vector<std::string> &inputs) {
    node->set_op_type(op);
    node->set_domain("");
    node->mutable_input()->clear();
    for (const std::string &name : inputs) node->add_input(name);
  }

  void integer_product(OnnxNode *node) {
    if (node->input_size() < 2 || node->output_size() != 1) throw Refusal("it needs two inputs and one output");
    const Tensor &q = graph_.needed(*node, 1, "its second factor");
    if (node->op_type() == "ConvInteger" ? q.rank() < 3 : q.rank() != 2)
      throw Refusal("its constant has shape " + shape_text(q.shape) + "; accepted: one matrix, or a convolution's weights");
    const OnnxNode *source = graph_.maker(node->input(0));
    if (dynamic_source(*node) != nullptr) return behind_dynamic(*node, q);
    if (source != nullptr && source->op_type() == "QuantizeLinear" && source->input_size() >= 2)
      return behind_static(node, q, *source);
    throw Refusal("its first input is made by neither DynamicQuantizeLinear nor QuantizeLinear; accepted: these");
  }

  static size_t axis_of_outputs(const OnnxNode &node, const Tensor &q) {
    return node.op_type() == "ConvInteger" ? 0 : last_axis(q);
  }

  // A constant that the result is multiplied by: one number, or one for each output where it broadcasts along these.
  static void check_factor(const OnnxNode &node, const Tensor &q, const Tensor &scale) {
    const size_t from_end = node.op_type() == "ConvInteger" ? q.rank() - 1 : 1;
    const bool each = scale.rank() >= from_end && scale.shape[scale.rank() - from_end] == scale.size();
    if (scale.size() != 1 && !each)
      throw Refusal("its scale has shape " + shape_text(scale.shape) + ", which is not one for each output");
  }

  // The factor of a Mul beside x's scale.
  const Tensor &weight_scale(const std::string &product, const OnnxNode &source) {
    const OnnxNode *scales = graph_.maker(product);
    const Tensor *scale = nullptr;
    for (int i = 0; scales != nullptr && scales->op_type() == "Mul" && scales->input_size() == 2 && i < 2; ++i) {
      if (scales->input(i) == source.output(1)) scale = graph_.constant(*scales, 1 - i);
    }
    if (scale == nullptr) throw Refusal("its result is not multiplied by the scales of both factors; accepted: that chain");
    return *scale;
  }
  static const std::string &other_input(const OnnxNode &node, const std::string &name) {
    if (node.input_size() != 2) throw Refusal("its chain lacks inputs");
    return node.input(node.input(0) == name ? 1 : 0);
  }

  // What older files add to the integers, as the floats that it stands for: Reshape(Cast(Floor(bias / scales))).
  std::string plain_bias(const OnnxNode &add, const OnnxNode &node, const OnnxNode &source, const Tensor &scale) {
    std::string name = other_input(add, node.output(0)), shape;
    const OnnxNode *reshape = graph_.maker(name);
    if (reshape != nullptr && reshape->op_type() == "Reshape" && reshape->input_size() == 2) {
      name = reshape->input(0);
      shape = reshape->input(1);
    }
    const OnnxNode &floor = only_maker(only_maker(name, "Cast", 1).input(0), "Floor", 1),
                   &whole = only_maker(floor.input(0), "Div", 2);
    const Tensor &divisor = weight_scale(whole.input(1), source);
    if (divisor.shape != scale.shape || !std::equal(divisor.data.begin(), divisor.data.end(), scale.data.begin())) throw no_chain();
    if (shape.empty()) return whole.input(0);
    std::string bias = graph_.fresh(whole.input(0) + ":shaped");
    graph_.add_node("Reshape", node_title(add), {whole.input(0), shape}, bias);
    return bias;
  }

  // y = Cast(MatMulInteger(quantised x, W)) (x's scale W's scale) becomes MatMul(x, W), and so for ConvInteger.
  void behind_dynamic(const OnnxNode &node, const Tensor &q) {
    const OnnxNode *source = dynamic_source(node), *add = reader_of(node, "Add");
    const OnnxNode *cast = only_reader(add == nullptr ? node : *add, "Cast");
    OnnxNode *result = only_reader(*cast, "Mul");
    const Tensor &scale = weight_scale(other_input(*result, cast->output(0)), *source);
    check_factor(node, q, scale);
    const std::string title = node_title(node), x = source->input(0), y = result->output(0);
    const std::string w =
        graph_.add_constant(title + ":W", dequantized(q, scale, graph_.constant(node, 3), axis_of_outputs(node, q)));
    if (add != nullptr) {
      const std::string bias = plain_bias(*add, node, *source, scale), product = graph_.fresh(y + ":product");
      graph_.add_node("Add", title, {product, bias}, y);
      result->set_output(0, product);
    }
    *result->mutable_attribute() = node.attribute();
    become(result, node.op_type() == "ConvInteger" ? "Conv" : "MatMul", {x, w});
  }

  // The sum of integers is that of x and the weights over x's scale; it is cast to float next.
  void behind_static(OnnxNode *node, const Tensor &q, const OnnxNode &source) {
    for (const OnnxNode *reader : graph_.readers(node->output(0))) {
      if (reader->op_type() != "Cast" || Attributes(*reader).integer("to", 0) != kOnnxFloat)
        throw Refusal("its integers are read by " + reader->op_type() + "; accepted: Cast to float");
    }
    if (graph_.is_output(node->output(0))) throw Refusal("its integers are an output; accepted: Cast to float behind it");
    Tensor scale = graph_.needed(source, 1, "the scale of x");
    if (scale.size() != 1) throw Refusal("the scale of x has shape " + shape_text(scale.shape) + "; accepted: one number");
    scale.data[0] = 1 / scale.data[0];
    const std::string w =
        graph_.add_constant(node_title(*node) + ":W", dequantized(q, scale, graph_.constant(*node, 3), axis_of_outputs(*node, q)));
    std::vector<std::string> inputs = {node->input(0), source.input(1)};
    if (node->input_size() > 2 && !node->input(2).empty()) inputs.push_back(node->input(2));
    const std::string x = graph_.fresh(node->input(0) + ":float");
    graph_.add_node("DequantizeLinear", node_title(*node), inputs, x);
    become(node, node->op_type() == "ConvInteger" ? "Conv" : "MatMul", {x, w});
  }

  QuantizedGraph graph_;
  Problems *problems_;
  bool any_ = false;
};

}  // namespace

void replace_quantized_forms(OnnxModel *model, Problems *problems) {
  Replacer(model, problems).run();
}

}  // namespace rnnp::compiler
