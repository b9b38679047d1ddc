// valid_steps.cpp -- Contract: valid_steps.h. The indices are matched by their form; that they cover all rows and features is left
// to a Reshape to the file's own sizes, which is refused where it is another number. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/valid_steps.h"

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/uses.h"

namespace rnnp::compiler {
namespace {

// Lengths - 1 of every row, as an axis among others of size 1.
struct LastIndex {
  std::string lengths;  // the graph's input; empty: it is something else
  size_t rank = 1, row_axis = 0;
};

// What a GatherND or GatherElements takes of a sequence.
struct Taken {
  std::string sequence, lengths;
  int64_t time = 0, rows = 0;
  std::string count;   // GatherND and Gather: how many rows,
  int64_t fixed = 0;   // or the number where the file has it
  std::string shape;   // GatherElements: of the result
  std::string places;  // Gather: of rows times steps, as many as rows
};

class LastSteps {
 public:
  explicit LastSteps(const OnnxModel &model) : model_(model), uses_(model) {}

  bool find(const OnnxNode &node, Taken *out) const {
    if (node.input_size() != 2 || node.output_size() != 1) return false;
    out->sequence = node.input(0);
    if (node.op_type() == "GatherND") return by_rows(node, out);
    if (node.op_type() == "Gather") return by_places(node, out);
    return node.op_type() == "GatherElements" && by_elements(node, out);
  }

 private:
  const OnnxNode *maker(const std::string &name, const char *op) const {
    const OnnxNode *node = uses_.any_maker(name);
    return node != nullptr && node->op_type() == op ? node : nullptr;
  }

  bool constant(const std::string &name, std::vector<int64_t> *out) const {
    const auto found = constant_ints(model_, name);
    if (found) *out = *found;
    return found.has_value();
  }

  bool is_number(const std::string &name, int64_t wanted) const {
    std::vector<int64_t> elements;
    return constant(name, &elements) && elements == std::vector<int64_t>{wanted};
  }

  // Where Unsqueeze or Reshape put the only axis that is not of size 1.
  bool moved(const OnnxNode &node, LastIndex *index) const {
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
    std::vector<const OnnxNode *> moves;
    int64_t less = 0;
    for (size_t i = 0; i < kLongest; ++i) {
      const OnnxNode *node = uses_.any_maker(name);
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
    if (type != kOnnxInt32 && type != kOnnxInt64) return {};
    LastIndex index{name, 1, 0};
    for (size_t i = moves.size(); i-- > 0;) {
      if (!moved(*moves[i], &index)) return {};
    }
    return index;
  }

  // As many as rows: 0, 1, 2 ... along the first axis; `count` is the size that the file computes or, where its sizes are fixed,
  // empty, and `fixed` has the size.
  bool all_rows(std::string name, Taken *out) const {
    if (counted(name, &out->fixed)) return true;
    for (const OnnxNode *node = uses_.any_maker(name); node != nullptr && node->op_type() != "Range";
         node = uses_.any_maker(name)) {
      const std::string &op = node->op_type();
      LastIndex column;
      const bool moves = op == "Unsqueeze" || op == "Reshape";
      if (moves ? !moved(*node, &column) || column.row_axis != 0 : op != "Identity" && op != "Cast") return false;
      name = node->input(0);
    }
    const OnnxNode *range = maker(name, "Range");
    std::vector<int64_t> fixed;
    if (range == nullptr || !is_number(range->input(0), 0) || !is_number(range->input(2), 1)) return false;
    out->count = range->input(1);
    return !constant(out->count, &fixed);
  }

  // The constants 0, 1, 2 ... as a column or alone.
  bool counted(const std::string &name, int64_t *size) const {
    std::vector<int64_t> rows;
    if (!constant(name, &rows) || rows.empty()) return false;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != static_cast<int64_t>(i)) return false;
    }
    *size = static_cast<int64_t>(rows.size());
    return true;
  }

  bool by_rows(const OnnxNode &node, Taken *out) const {
    const OnnxNode *pairs = maker(node.input(1), "Concat");
    if (pairs == nullptr || pairs->input_size() != 2 || Attributes(node).integer("batch_dims", 0) != 0) return false;
    const int64_t axis = Attributes(*pairs).integer("axis", 0);
    if (axis != -1 && axis != 1) return false;
    for (int time = 0; time < 2; ++time) {
      const LastIndex index = last_index(pairs->input(time));
      if (index.lengths.empty() || index.rank != 2 || index.row_axis != 0) continue;
      out->lengths = index.lengths;
      out->time = time;
      out->rows = 1 - time;
      return all_rows(pairs->input(1 - time), out);
    }
    return false;
  }

  // As TorchScript's exporter writes y[rows, lengths - 1]: the first two axes are one, and places in it are a * size of the second
  // + b.
  bool by_places(const OnnxNode &node, Taken *out) const {
    const OnnxNode *flat = maker(node.input(0), "Flatten"), *places = maker(node.input(1), "Add");
    if (flat == nullptr || places == nullptr || Attributes(*flat).integer("axis", 1) != 2) return false;
    if (Attributes(node).integer("axis", 0) != 0) return false;
    out->sequence = flat->input(0);
    out->places = places->output(0);
    for (int second = 0; second < 2; ++second) {
      const OnnxNode *scaled = maker(places->input(1 - second), "Mul");
      if (scaled == nullptr) continue;
      for (int factor = 0; factor < 2; ++factor) {
        if (!is_size(scaled->input(factor), out->sequence)) continue;
        const std::string indices[] = {scaled->input(1 - factor), places->input(second)};
        if (by_axes(indices, out)) return true;
      }
    }
    return false;
  }

  // indices[0] are places of the first axis, indices[1] of the second.
  bool by_axes(const std::string (&indices)[2], Taken *out) const {
    for (int time = 0; time < 2; ++time) {
      const LastIndex index = last_index(indices[time]);
      if (index.lengths.empty() || index.rank != 1 || !all_rows(indices[1 - time], out)) continue;
      out->lengths = index.lengths;
      out->time = time;
      out->rows = 1 - time;
      return true;
    }
    return false;
  }

  // The size of the tensor's second axis; the exporter may have transposed it once more for that.
  bool is_size(const std::string &name, const std::string &tensor) const {
    const OnnxNode *pick = maker(name, "Gather");
    const OnnxNode *shape = pick == nullptr || !is_number(pick->input(1), 1) ? nullptr : maker(pick->input(0), "Shape");
    if (shape == nullptr || !shape->attribute().empty()) return false;
    if (shape->input(0) == tensor) return true;
    const OnnxNode *a = maker(shape->input(0), "Transpose"), *b = maker(tensor, "Transpose");
    return a != nullptr && b != nullptr && a->input(0) == b->input(0) &&
           Attributes(*a).integers("perm") == Attributes(*b).integers("perm");
  }

  bool by_elements(const OnnxNode &node, Taken *out) const {
    const OnnxNode *expand = maker(node.input(1), "Expand");
    if (expand == nullptr) return false;
    const LastIndex index = last_index(expand->input(0));
    const int64_t axis = Attributes(node).integer("axis", 0);
    out->time = axis < 0 ? axis + 3 : axis;
    out->rows = static_cast<int64_t>(index.row_axis);
    out->lengths = index.lengths;
    out->shape = sizes_of(expand->input(1));
    return !index.lengths.empty() && index.rank == 3 && out->time + out->rows == 1;
  }

  // PyTorch's -1, which keeps a size, is written as Where(sizes == -1, 1, sizes); a Reshape keeps it as it is.
  std::string sizes_of(const std::string &name) const {
    const OnnxNode *where = maker(name, "Where");
    const OnnxNode *kept = where == nullptr ? nullptr : maker(where->input(0), "Equal");
    const OnnxNode *minus = kept == nullptr || kept->input(0) != where->input(2) ? nullptr : maker(kept->input(1), "Mul");
    const OnnxNode *ones = minus == nullptr ? nullptr : maker(where->input(1), "ConstantOfShape");
    if (ones == nullptr || minus->input(0) != ones->output(0) || !is_number(minus->input(1), -1)) return name;
    const auto *value = Attributes(*ones).find("value");
    if (value == nullptr || value->type() != OnnxAttribute::kTensor || value->t().tensor()->data != std::vector<double>{1})
      return name;
    return where->input(2);
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

  // How many rows there are, as an array of one.
  void count_to(const Taken &taken, const std::string &to) {
    if (taken.count.empty()) return rewrite_.set_constant(to, ints({taken.fixed}));
    rewrite_.set_constant(to + "/one", ints({1}));
    rewrite_.add("Reshape", to, {taken.count, to + "/one"}, {to});
  }

  void write(const OnnxNode &node, const Taken &taken) {
    name_ = node.output(0);
    const auto constant = [&](const char *what, Tensor tensor) {
      rewrite_.set_constant(of(what), std::move(tensor));
      return of(what);
    };
    const std::string zero = constant("0", ints({0})), one = constant("1", ints({1})), last = constant("last", ints({-1})),
                      end = constant("end", ints({std::numeric_limits<int32_t>::max()}));
    OnnxNode *reversed = rewrite_.add("ReverseSequence", of("reversed"), {taken.sequence, taken.lengths}, {of("reversed")});
    reversed->add_attribute("time_axis", taken.time);
    reversed->add_attribute("batch_axis", taken.rows);
    pick(of("reversed"), zero, of("first"), taken.time);
    pick(taken.sequence, last, of("run_end"), taken.time);
    any_step(taken, constant, zero, one);
    rewrite_.add("Where", of("step"), {of("any"), of("first"), of("run_end")}, {of("step")});
    if (taken.shape.empty()) {
      rewrite_.add("Shape", of("row"), {of("step")}, {of("row")});
      rewrite_.add("Slice", of("features"), {of("row"), one, end, zero}, {of("features")});
      count_to(taken, of("count"));
      joined({of("count"), of("features")}, of("shape"));
      rewrite_.add("Reshape", name_, {of("step"), of("shape")}, {name_});
    } else {
      rewrite_.add("Reshape", name_, {of("step"), shape_of(taken, constant)}, {name_});
    }
  }

 private:
  std::string of(const char *what) const { return name_ + "/valid_steps/" + what; }

  void joined(const std::vector<std::string> &parts, const std::string &to) {
    rewrite_.add("Concat", to, parts, {to})->add_attribute("axis", int64_t{0});
  }

  // A step without its axis.
  void pick(const std::string &from, const std::string &index, const std::string &to, int64_t axis) {
    rewrite_.add("Gather", to + "4", {from, index}, {to + "4"})->add_attribute("axis", axis);
    rewrite_.reshaping("Squeeze", to + "4", to, {axis});
  }

  // Whether a row has steps: a layer over ones gives 1 for it, and without steps the 0 that it starts from. Both are computed from
  // the sequence, the 0 so that every run starts anew, the ones so that they have its axes: no number is above itself.
  template <typename Constant>
  void any_step(const Taken &taken, const Constant &constant, const std::string &zero, const std::string &one) {
    zeros("every", taken.sequence, zero, one, constant("features_axis", ints({2})));
    rewrite_.add("Add", of("ones"), {of("every_start"), constant("one_number", reals({1}, 1))}, {of("ones")});
    std::string ones = of("ones");
    if (taken.time == 1) {
      OnnxNode *turned = rewrite_.add("Transpose", of("ones_first"), {ones}, {of("ones_first")});
      turned->add_attribute("perm", std::vector<int64_t>{1, 0, 2});
      ones = of("ones_first");
    }
    zeros("row", of("first"), zero, one, one);
    rewrite_.reshaping("Unsqueeze", of("row_start"), of("start3"), {0});
    const std::string w = constant("W", reals({1, 1, 1}, 1)), r = constant("R", reals({1, 1, 1}, 0));
    OnnxNode *layer = rewrite_.add("RNN", of("counted"), {ones, w, r, "", taken.lengths, of("start3")}, {"", of("ended")});
    layer->add_attribute("hidden_size", int64_t{1});
    layer->add_attribute("activations", std::vector<std::string>{"Relu"});
    rewrite_.reshaping("Squeeze", of("ended"), of("ended2"), {0});
    rewrite_.add("Greater", of("any"), {of("ended2"), constant("half", reals({1}, 0.5))}, {of("any")});
  }

  // Zeros of a tensor's size and one feature, computed from it.
  void zeros(const std::string &what, const std::string &from, const std::string &zero, const std::string &one,
             const std::string &axis) {
    const std::string at = name_ + "/valid_steps/" + what;
    rewrite_.add("Slice", at + "_feature", {from, zero, one, axis}, {at + "_feature"});
    rewrite_.add("Greater", at + "_none", {at + "_feature", at + "_feature"}, {at + "_none"});
    rewrite_.add("Cast", at + "_start", {at + "_none"}, {at + "_start"})->add_attribute("to", int64_t{kOnnxFloat});
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
  std::map<const OnnxNode *, Taken> found;
  std::map<std::string, const Taken *> places;  // whose Shape the file may read
  for (const OnnxNode *node : model.nodes) {
    Taken taken;
    if (!steps.find(*node, &taken)) continue;
    const Taken &kept = found.emplace(node, taken).first->second;
    if (!taken.places.empty()) places.emplace(taken.places, &kept);
  }
  for (const OnnxNode *node : model.nodes) {
    const bool shape = node->op_type() == "Shape" && node->attribute().empty();
    const auto of_places = shape ? places.find(node->input(0)) : places.end();
    const auto taken = found.find(node);
    if (of_places != places.end())
      writer.count_to(*of_places->second, node->output(0));
    else if (taken != found.end())
      writer.write(*node, taken->second);
    else
      rewrite.keep(node);
  }
  return found.empty() ? nullptr : rewrite.done();
}

}  // namespace rnnp::compiler
