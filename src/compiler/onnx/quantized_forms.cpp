// quantized_forms.cpp -- Contract: quantized_forms.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/quantized_forms.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

using onnx::NodeProto;

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
  Replacer(OnnxModel *model, Problems *problems) : model_(model), problems_(problems) {
    for (NodeProto &node : *graph()->mutable_node()) {
      for (const std::string &name : node.output()) maker_[name] = &node;
      for (const std::string &name : node.input()) readers_[name].push_back(&node);
    }
    for (const std::string &name : outputs()) kept_.insert(name);
  }

  void run() {
    bool any = false;
    for (NodeProto &node : *graph()->mutable_node()) {
      const bool lstm = node.domain() == "com.microsoft" && node.op_type() == "DynamicQuantizeLSTM";
      if (!lstm && node.op_type() != "MatMulInteger") continue;
      try {
        lstm ? plain_lstm(&node) : plain_product(node);
        any = true;
      } catch (const Refusal &refusal) {
        problems_->add(node_title(node), node.op_type(), refusal.what());
      }
    }
    if (any) drop_unread();
  }

 private:
  onnx::GraphProto *graph() { return model_->proto.mutable_graph(); }
  std::vector<std::string> outputs() {
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto &info : graph()->output()) names.push_back(info.name());
    return names;
  }

  const Tensor *constant(const NodeProto &node, int i) const {
    if (i >= node.input_size()) return nullptr;
    const auto found = model_->constants.find(node.input(i));
    return found == model_->constants.end() ? nullptr : found->second.get();
  }
  const Tensor &needed(const NodeProto &node, int i, const char *what) const {
    const Tensor *found = constant(node, i);
    if (found == nullptr) throw Refusal(std::string(what) + " is no initializer; accepted: initializers");
    return *found;
  }

  static void check_scales(const Tensor &q, const Tensor &t, const char *what) {
    const int64_t outer = q.rank() == 3 ? q.shape[0] : 1, columns = q.shape.back();
    if (t.size() == 1 || (t.rank() == 1 && t.size() == (q.rank() == 3 ? outer : columns)) ||
        (t.rank() == 2 && t.shape == Shape{outer, columns}))
      return;
    throw Refusal(std::string(what) + " has shape " + shape_text(t.shape) + ", which does not fit weights of shape " +
                  shape_text(q.shape));
  }

  std::string add_constant(const NodeProto &node, const char *which, const Columns &columns, bool transposed) {
    check_scales(columns.q, columns.scale, "a scale");
    if (columns.zero != nullptr) check_scales(columns.q, *columns.zero, "a zero point");
    const std::string name = node_title(node) + ":" + which;
    model_->constants[name] = std::make_shared<const Tensor>(columns.floats(transposed));
    return name;
  }

  // X, W [D][I][4H], R [D][H][4H], B, lengths, h, c, P, then scale and zero point of W and of R.
  void plain_lstm(NodeProto *node) {
    if (node->input_size() < 12) throw Refusal("it has " + std::to_string(node->input_size()) + " inputs; accepted: 12");
    const Tensor &w = needed(*node, 1, "W"), &r = needed(*node, 2, "R");
    if (w.rank() != 3 || r.rank() != 3 || w.elem != Elem::kInt || r.elem != Elem::kInt)
      throw Refusal("W and R have shapes " + shape_text(w.shape) + " and " + shape_text(r.shape) +
                    "; accepted: integers, [directions, inputs, gates]");
    const std::string plain_w = add_constant(*node, "W", {w, needed(*node, 8, "W_scale"), constant(*node, 9)}, true);
    const std::string plain_r = add_constant(*node, "R", {r, needed(*node, 10, "R_scale"), constant(*node, 11)}, true);
    node->set_op_type("LSTM");
    node->clear_domain();
    node->set_input(1, plain_w);
    node->set_input(2, plain_r);
    node->mutable_input()->DeleteSubrange(8, node->input_size() - 8);
  }

  NodeProto *only_reader(const std::string &name, const char *op) const {
    const auto found = readers_.find(name);
    if (kept_.count(name) != 0 || found == readers_.end() || found->second.size() != 1 || found->second[0]->op_type() != op ||
        found->second[0]->output_size() != 1)
      throw Refusal("it is not part of the chain DynamicQuantizeLinear, MatMulInteger, Cast, Mul; accepted: that chain");
    return found->second[0];
  }
  const NodeProto *maker(const std::string &name) const {
    const auto found = maker_.find(name);
    return found == maker_.end() ? nullptr : found->second;
  }

  // y = Cast(MatMulInteger(quantised x, W)) (x's scale W's scale) becomes MatMul(x, W).
  void plain_product(const NodeProto &node) {
    if (node.input_size() < 2 || node.output_size() != 1) throw Refusal("it needs two inputs and one output");
    const NodeProto *source = maker(node.input(0));
    NodeProto *result = only_reader(only_reader(node.output(0), "Cast")->output(0), "Mul");
    if (source == nullptr || source->op_type() != "DynamicQuantizeLinear" || source->output_size() < 2)
      throw Refusal("its first input is not made by DynamicQuantizeLinear; accepted: that, or weights that are dequantised");
    if (result->input_size() != 2 || source->input_size() != 1) throw Refusal("its chain lacks inputs");
    const std::string cast = only_reader(node.output(0), "Cast")->output(0);
    const NodeProto *scales = maker(result->input(result->input(0) == cast ? 1 : 0));
    const Tensor *scale = nullptr;
    for (int i = 0; scales != nullptr && scales->op_type() == "Mul" && i < scales->input_size() && i < 2; ++i) {
      if (scales->input(i) == source->output(1)) scale = constant(*scales, 1 - i);
    }
    if (scale == nullptr) throw Refusal("its result is not multiplied by the scales of both factors; accepted: that chain");
    const Tensor &q = needed(node, 1, "B");
    if (q.rank() != 2) throw Refusal("its constant has shape " + shape_text(q.shape) + "; accepted: one matrix");
    const std::string name = add_constant(node, "B", {q, *scale, constant(node, 3)}, false);
    const std::string x = source->input(0);
    result->set_op_type("MatMul");
    result->clear_input();
    result->add_input(x);
    result->add_input(name);
  }

  void drop_unread() {
    auto *nodes = graph()->mutable_node();
    for (bool dropped = true; dropped;) {
      dropped = false;
      std::set<std::string> read = kept_;
      for (const NodeProto &node : *nodes) read.insert(node.input().begin(), node.input().end());
      for (int i = nodes->size(); i-- > 0;) {
        const NodeProto &node = nodes->Get(i);
        static const std::set<std::string> kParts = {"DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul"};
        const auto is_read = [&](const std::string &name) { return read.count(name) != 0; };
        if (kParts.count(node.op_type()) == 0 || std::any_of(node.output().begin(), node.output().end(), is_read)) continue;
        nodes->DeleteSubrange(i, 1);
        dropped = true;
      }
    }
  }

  OnnxModel *model_;
  Problems *problems_;
  std::map<std::string, NodeProto *> maker_;
  std::map<std::string, std::vector<NodeProto *>> readers_;
  std::set<std::string> kept_;
};

}  // namespace

void replace_quantized_forms(OnnxModel *model, Problems *problems) {
  Replacer(model, problems).run();
}

}  // namespace rnnp::compiler
