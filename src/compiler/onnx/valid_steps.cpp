// valid_steps.cpp -- Contract: valid_steps.h. The indices are matched by their form; that they cover all rows and features is left
// to a Reshape to the file's own sizes, which is refused where it is another number. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/valid_steps.h"

#include <algorithm>
#include <limits>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/uses.h"

namespace rnnp::compiler {
namespace {

using onnx::NodeProto;

// Lengths - 1 of every row, as an axis among others of size 1.
struct LastIndex {
  std::string lengths;  // the graph's input; empty: it is something else
  size_t rank = 1, row_axis = 0;
};

// What a GatherND or GatherElements takes of a sequence.
struct Taken {
  std::string sequence, lengths;
  int64_t time = 0, rows = 0;
  std::string count;  // GatherND: how many rows
  std::string shape;  // GatherElements: of the result
};

class LastSteps {
 public:
  explicit LastSteps(const OnnxModel &model) : model_(model), uses_(model) {}

  bool find(const NodeProto &node, Taken *out) const {
    if (node.input_size() != 2 || node.output_size() != 1) return false;
    out->sequence = node.input(0);
    if (node.op_type() == "GatherND") return by_rows(node, out);
    return node.op_type() == "GatherElements" && by_elements(node, out);
  }

 private:
  const NodeProto *maker(const std::string &name, const char *op) const {
    const NodeProto *node = uses_.any_maker(name);
    return node != nullptr && node->op_type() == op ? node : nullptr;
  }

  bool constant(const std::string &name, std::vector<int64_t> *out) const {
    const auto found = constant_ints(model_, name, uses_.any_maker(name));
    if (found) *out = *found;
    return found.has_value();
  }

  bool is_number(const std::string &name, int64_t wanted) const {
    std::vector<int64_t> elements;
    return constant(name, &elements) && elements == std::vector<int64_t>{wanted};
  }

  // Where Unsqueeze or Reshape put the only axis that is not of size 1.
  bool moved(const NodeProto &node, LastIndex *index) const {
    std::vector<int64_t> given;
    if (node.op_type() == "Unsqueeze") {
      given = Attributes(node).integers("axes");
      if (given.empty() && (node.input_size() != 2 || !constant(node.input(1), &given))) return false;
      const size_t rank = index->rank + given.size();
      std::vector<bool> fresh(rank, false);
      for (const int64_t axis : given) {
        const int64_t at = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
        if (at < 0 || at >= static_cast<int64_t>(rank)) return false;
        fresh[static_cast<size_t>(at)] = true;
      }
      size_t place = 0;
      for (size_t left = index->row_axis + 1; place < rank; ++place) {
        if (!fresh[place] && --left == 0) break;
      }
      *index = {index->lengths, rank, place};
      return true;
    }
    if (node.op_type() != "Reshape" || node.input_size() != 2 || !constant(node.input(1), &given)) return false;
    if (std::count(given.begin(), given.end(), 1) != static_cast<int64_t>(given.size()) - 1) return false;
    const auto rows = std::find(given.begin(), given.end(), -1);
    if (rows == given.end()) return false;
    *index = {index->lengths, given.size(), static_cast<size_t>(rows - given.begin())};
    return true;
  }

  // Nodes between the input and `name`, the last first: lengths, casts, one subtraction of 1, axes of size 1.
  LastIndex last_index(std::string name) const {
    constexpr size_t kLongest = 16;
    std::vector<const NodeProto *> moves;
    int64_t less = 0;
    for (size_t i = 0; i < kLongest; ++i) {
      const NodeProto *node = uses_.any_maker(name);
      if (node == nullptr || node->input_size() == 0) break;
      const std::string &op = node->op_type();
      if ((op == "Sub" && is_number(node->input(1), 1)) || (op == "Add" && is_number(node->input(1), -1))) {
        ++less;
      } else if (op == "Unsqueeze" || op == "Reshape") {
        moves.push_back(node);
      } else if (op != "Identity" && op != "Cast") {
        return {};
      }
      name = node->input(0);
    }
    const auto declared =
        std::find_if(model_.inputs.begin(), model_.inputs.end(), [&](const DeclaredInput &input) { return input.name == name; });
    if (less != 1 || declared == model_.inputs.end() || declared->dims.size() != 1) return {};
    const int type = declared->elem_type;
    if (type != onnx::TensorProto::INT32 && type != onnx::TensorProto::INT64) return {};
    LastIndex index{name, 1, 0};
    for (size_t i = moves.size(); i-- > 0;) {
      if (!moved(*moves[i], &index)) return {};
    }
    return index;
  }

  // As many as rows: 0, 1, 2 ... along the first axis; `count` is the size that the file computes.
  bool all_rows(std::string name, std::string *count) const {
    for (const NodeProto *node = uses_.any_maker(name); node != nullptr && node->op_type() != "Range";
         node = uses_.any_maker(name)) {
      const std::string &op = node->op_type();
      LastIndex column;
      const bool moves = op == "Unsqueeze" || op == "Reshape";
      if (moves ? !moved(*node, &column) || column.row_axis != 0 : op != "Identity" && op != "Cast") return false;
      name = node->input(0);
    }
    const NodeProto *range = maker(name, "Range");
    std::vector<int64_t> fixed;
    if (range == nullptr || !is_number(range->input(0), 0) || !is_number(range->input(2), 1)) return false;
    *count = range->input(1);
    return !constant(*count, &fixed);
  }

  bool by_rows(const NodeProto &node, Taken *out) const {
    const NodeProto *pairs = maker(node.input(1), "Concat");
    if (pairs == nullptr || pairs->input_size() != 2 || Attributes(node).integer("batch_dims", 0) != 0) return false;
    const int64_t axis = Attributes(*pairs).integer("axis", 0);
    if (axis != -1 && axis != 1) return false;
    for (int time = 0; time < 2; ++time) {
      const LastIndex index = last_index(pairs->input(time));
      if (index.lengths.empty() || index.rank != 2 || index.row_axis != 0) continue;
      out->lengths = index.lengths;
      out->time = time;
      out->rows = 1 - time;
      return all_rows(pairs->input(1 - time), &out->count);
    }
    return false;
  }

  bool by_elements(const NodeProto &node, Taken *out) const {
    const NodeProto *expand = maker(node.input(1), "Expand");
    if (expand == nullptr) return false;
    const LastIndex index = last_index(expand->input(0));
    const int64_t axis = Attributes(node).integer("axis", 0);
    out->time = axis < 0 ? axis + 3 : axis;
    out->rows = static_cast<int64_t>(index.row_axis);
    out->lengths = index.lengths;
    out->shape = expand->input(1);
    return !index.lengths.empty() && index.rank == 3 && out->time + out->rows == 1;
  }

  const OnnxModel &model_;
  const Uses uses_;
};

Tensor ints(const std::vector<int64_t> &values) {
  Tensor out(Elem::kInt, {static_cast<int64_t>(values.size())});
  std::transform(values.begin(), values.end(), out.data.begin(), [](int64_t v) { return static_cast<double>(v); });
  return out;
}

Tensor reals(const Shape &shape, double value) {
  Tensor out(Elem::kFloat, shape);
  std::fill(out.data.begin(), out.data.end(), value);
  return out;
}

class Writer {
 public:
  Writer(const OnnxModel &model, Rewrite *rewrite) : model_(model), rewrite_(*rewrite) {}

  void write(const NodeProto &node, const Taken &taken) {
    name_ = node.output(0);
    const auto constant = [&](const char *what, Tensor tensor) {
      rewrite_.set_constant(of(what), std::move(tensor));
      return of(what);
    };
    const std::string zero = constant("0", ints({0})), one = constant("1", ints({1})), last = constant("last", ints({-1})),
                      end = constant("end", ints({std::numeric_limits<int32_t>::max()}));
    NodeProto *reversed = rewrite_.add("ReverseSequence", of("reversed"), {taken.sequence, taken.lengths}, {of("reversed")});
    set_attribute(reversed, "time_axis", taken.time);
    set_attribute(reversed, "batch_axis", taken.rows);
    pick(of("reversed"), zero, of("first"), taken.time);
    pick(taken.sequence, last, of("run_end"), taken.time);
    rewrite_.add("Shape", of("sizes"), {taken.sequence}, {of("sizes")});
    any_step(taken, constant, one);
    rewrite_.add("Where", of("step"), {of("any"), of("first"), of("run_end")}, {of("step")});
    if (taken.shape.empty()) {
      rewrite_.add("Shape", of("row"), {of("step")}, {of("row")});
      rewrite_.add("Slice", of("features"), {of("row"), one, end, zero}, {of("features")});
      const std::string scalar = constant("scalar", ints({1}));
      rewrite_.add("Reshape", of("count"), {taken.count, scalar}, {of("count")});
      joined({of("count"), of("features")}, of("shape"));
      rewrite_.add("Reshape", name_, {of("step"), of("shape")}, {name_});
    } else {
      rewrite_.add("Reshape", name_, {of("step"), shape_of(taken, constant)}, {name_});
    }
  }

 private:
  std::string of(const char *what) const { return name_ + "/valid_steps/" + what; }

  void joined(const std::vector<std::string> &parts, const std::string &to) {
    set_attribute(rewrite_.add("Concat", to, parts, {to}), "axis", 0);
  }

  // A step without its axis.
  void pick(const std::string &from, const std::string &index, const std::string &to, int64_t axis) {
    set_attribute(rewrite_.add("Gather", to + "4", {from, index}, {to + "4"}), "axis", axis);
    rewrite_.reshaping("Squeeze", to + "4", to, {axis});
  }

  // Whether a row has steps: a layer over ones gives 1 for it, and without steps the 0 that it starts from. That is computed, so
  // that every run starts anew: no number is above itself.
  template <typename Constant>
  void any_step(const Taken &taken, const Constant &constant, const std::string &one) {
    const std::string axes = constant("axes", ints({taken.time, taken.rows}));
    set_attribute(rewrite_.add("Gather", of("outer"), {of("sizes"), axes}, {of("outer")}), "axis", 0);
    joined({of("outer"), one}, of("ones_shape"));
    rewrite_.add("Expand", of("ones"), {constant("one_number", reals({1, 1, 1}, 1)), of("ones_shape")}, {of("ones")});
    rewrite_.add("Slice", of("feature"), {of("first"), constant("from", ints({0})), one, one}, {of("feature")});
    rewrite_.add("Greater", of("none"), {of("feature"), of("feature")}, {of("none")});
    set_attribute(rewrite_.add("Cast", of("start"), {of("none")}, {of("start")}), "to", onnx::TensorProto::FLOAT);
    rewrite_.reshaping("Unsqueeze", of("start"), of("start3"), {0});
    const std::string w = constant("W", reals({1, 1, 1}, 1)), r = constant("R", reals({1, 1, 1}, 0));
    NodeProto *layer = rewrite_.add("RNN", of("counted"), {of("ones"), w, r, "", taken.lengths, of("start3")}, {"", of("ended")});
    set_attribute(layer, "hidden_size", 1);
    set_attribute(layer, "activations", std::vector<std::string>{"Relu"});
    rewrite_.reshaping("Squeeze", of("ended"), of("ended2"), {0});
    rewrite_.add("Greater", of("any"), {of("ended2"), constant("half", reals({1}, 0.5))}, {of("any")});
  }

  // An Expand keeps an axis where it says 1.
  template <typename Constant>
  std::string shape_of(const Taken &taken, const Constant &constant) const {
    const auto given = model_.constants.find(taken.shape);
    if (given == model_.constants.end() || given->second->size() != 3) return taken.shape;
    std::vector<int64_t> shape = to_ints(*given->second);
    if (shape[static_cast<size_t>(taken.rows)] == 1) shape[static_cast<size_t>(taken.rows)] = -1;
    return constant("shape", ints(shape));
  }

  const OnnxModel &model_;
  Rewrite &rewrite_;
  std::string name_;
};

}  // namespace

std::unique_ptr<OnnxModel> with_valid_steps(const OnnxModel &model) {
  constexpr int64_t kSinceReverseSequence = 11;  // and Range, and indices from the end
  if (model.opset < kSinceReverseSequence) return nullptr;
  const LastSteps steps(model);
  Rewrite rewrite(model);
  Writer writer(model, &rewrite);
  bool any = false;
  for (const NodeProto *node : model.nodes) {
    Taken taken;
    if (!steps.find(*node, &taken)) {
      rewrite.keep(node);
      continue;
    }
    any = true;
    writer.write(*node, taken);
  }
  return any ? rewrite.done() : nullptr;
}

}  // namespace rnnp::compiler
