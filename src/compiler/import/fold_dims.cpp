// fold_dims.cpp -- Contract: fold_dims.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/fold_dims.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/eval/eval.h"

namespace rnnp::compiler {
namespace {

using MaybeDim = std::optional<Dim>;  // nothing: no rule says what it is

constexpr size_t kMostDims = size_t{1} << 16;

// Operators that move elements of their first input, or of all; the others say where to.
bool moves_dims(const std::string &op) {
  static const std::set<std::string> kMoves = {"Identity", "Gather",    "Slice",   "Squeeze", "Unsqueeze", "Concat",
                                               "Reshape",  "Transpose", "Flatten", "Tile",    "Split"};
  return kMoves.count(op) != 0;
}

Dim unknown_dim(const OpCall &call, double stand_in) {
  return Dim::unknown(call.node.op_type() + "#" + std::to_string(++call.b.unknown_dims), to_int(stand_in));
}

void put_dims(Tensor *out, std::vector<Dim> dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_number()) out->data[i] = static_cast<double>(dims[i].number());
  }
  out->dims = std::move(dims);
  if (!out->is_dynamic()) out->dims.clear();
}

// The node moves numbers of the elements in their place.
void fold_moved(const OpCall &call, const std::vector<const Tensor *> &in, std::vector<Tensor> *out) {
  const size_t data_inputs = call.node.op_type() == "Concat" ? in.size() : 1;
  std::vector<Tensor> numbered;
  std::vector<const Tensor *> inputs = in;
  std::vector<Dim> dims;
  numbered.reserve(data_inputs);
  for (size_t i = 0; i < data_inputs; ++i) {
    numbered.push_back(*in[i]);
    for (size_t k = 0; k < in[i]->data.size(); ++k) {
      numbered.back().data[k] = static_cast<double>(dims.size());
      dims.push_back(in[i]->dim(k));
    }
    inputs[i] = &numbered.back();
  }
  for (size_t i = data_inputs; i < in.size(); ++i) {
    if (in[i] != nullptr && in[i]->is_dynamic())
      throw Refusal("input " + std::to_string(i) + " depends on the number of steps or batch rows; accepted: constants");
  }
  const std::vector<Tensor> moved = eval_node(call.node, call.opset, inputs);
  for (size_t i = 0; i < out->size(); ++i) {
    std::vector<Dim> each;
    for (const double number : moved[i].data) each.push_back(dims[static_cast<size_t>(number)]);
    put_dims(&(*out)[i], std::move(each));
  }
}

MaybeDim flag(const std::optional<bool> &known) {
  return known ? MaybeDim(Dim(*known ? 1 : 0)) : std::nullopt;
}

MaybeDim opposite(const MaybeDim &known) {
  return known ? MaybeDim(Dim(1) - *known) : std::nullopt;
}

// Integers, rounded towards zero.
MaybeDim quotient(const Dim &a, const Dim &b, bool whole) {
  if (MaybeDim exact = a.exact_div(b)) return exact;
  const std::optional<int64_t> least = a.least();
  if (!whole || !b.is_number() || b.number() < 1 || !least || *least < 0) return std::nullopt;
  return a.floor_div(b.number());
}

MaybeDim remainder(const OpCall &call, const Dim &a, const Dim &b) {
  const std::optional<int64_t> least = a.least();
  if (!b.is_number() || b.number() < 1) return std::nullopt;
  if (call.attributes.integer("fmod", 0) != 0 && (!least || *least < 0)) return std::nullopt;
  return a - a.floor_div(b.number()) * b;
}

MaybeDim smaller(const Dim &a, const Dim &b, bool larger) {
  if (a == b) return a;
  const std::optional<bool> less = a.is_less(b), more = b.is_less(a);
  if (less && *less) return larger ? b : a;
  if (more && *more) return larger ? a : b;
  if (less) return larger ? a : b;  // never below: at most as large
  if (more) return larger ? b : a;
  return std::nullopt;
}

MaybeDim of_two_dims(const OpCall &call, const Dim &a, const Dim &b, bool whole) {
  const std::string &op = call.node.op_type();
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return quotient(a, b, whole);
  if (op == "Mod") return remainder(call, a, b);
  if (op == "Min") return smaller(a, b, false);
  if (op == "Max") return smaller(a, b, true);
  if (op == "Equal") return flag(a.is_equal(b));
  if (op == "Less") return flag(a.is_less(b));
  if (op == "Greater") return flag(b.is_less(a));
  if (op == "LessOrEqual") return opposite(flag(b.is_less(a)));
  if (op == "GreaterOrEqual") return opposite(flag(a.is_less(b)));
  return std::nullopt;
}

MaybeDim of_one_dim(const OpCall &call, const Dim &a, Elem to) {
  const std::string &op = call.node.op_type();
  if (op == "Cast" && to == Elem::kBool) return opposite(flag(a.is_equal(Dim(0))));
  if (op == "Cast" || op == "Floor" || op == "Ceil" || op == "Round") return a;
  if (op == "Neg") return Dim(0) - a;
  if (op == "Abs" && a.least() && *a.least() >= 0) return a;
  return std::nullopt;
}

MaybeDim of_choice(const Dim &condition, const Dim &x, const Dim &y) {
  if (x == y) return x;
  if (!condition.is_number()) return std::nullopt;
  return condition.number() != 0 ? x : y;
}

// Numbers of a float tensor that are no integers are no dimensions.
bool are_integers(const Tensor &tensor) {
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    const bool open = !tensor.dims.empty() && !tensor.dims[i].is_number();
    if (!open && tensor.data[i] != static_cast<double>(to_int(tensor.data[i]))) return false;
  }
  return true;
}

// Element by element, with broadcasting.
void fold_each(const OpCall &call, const std::vector<const Tensor *> &in, Tensor *out) {
  std::vector<std::vector<Dim>> operands;
  bool good = !in.empty() && in.size() <= 3;
  for (const Tensor *tensor : in) good = good && tensor != nullptr && are_integers(*tensor);
  for (size_t i = 0; i < in.size() && good; ++i) {
    std::vector<Dim> &each = operands.emplace_back(out->data.size());
    for_each_index(out->shape, broadcast_strides(in[i]->shape, out->shape), 0,
                   [&](int64_t n, int64_t at) { each[static_cast<size_t>(n)] = in[i]->dim(static_cast<size_t>(at)); });
  }
  const bool whole = good && std::all_of(in.begin(), in.end(), [](const Tensor *t) { return t->elem != Elem::kFloat; });
  std::vector<Dim> dims;
  for (size_t n = 0; n < out->data.size(); ++n) {
    MaybeDim dim;
    if (good && in.size() == 1) dim = of_one_dim(call, operands[0][n], out->elem);
    if (good && in.size() == 2) dim = of_two_dims(call, operands[0][n], operands[1][n], whole);
    if (good && in.size() == 3 && call.node.op_type() == "Where") dim = of_choice(operands[0][n], operands[1][n], operands[2][n]);
    dims.push_back(dim ? *dim : unknown_dim(call, out->data[n]));
  }
  put_dims(out, std::move(dims));
}

// Of all elements one number.
bool fold_reduced(const OpCall &call, const Tensor &in, Tensor *out) {
  const std::string &op = call.node.op_type();
  if ((op != "ReduceProd" && op != "ReduceSum") || out->size() != 1 || in.size() == 0 || !are_integers(in)) return false;
  Dim all = op == "ReduceProd" ? 1 : 0;
  for (const Dim &dim : to_dims(in)) all = op == "ReduceProd" ? all * dim : all + dim;
  put_dims(out, {all});
  return true;
}

bool works_on_each(const std::string &op) {
  static const std::set<std::string> kEach = {
      "Add",  "Sum",   "Sub",  "Mul",   "Div", "Mod", "Min",  "Max", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
      "Cast", "Floor", "Ceil", "Round", "Neg", "Abs", "Where"};
  return kEach.count(op) != 0;
}

}  // namespace

void fold_dims(const OpCall &call, const std::vector<const Tensor *> &in, std::vector<Tensor> *out) {
  const std::string &op = call.node.op_type();
  if (op == "Shape" || op == "Size" || out->empty()) return;
  size_t elements = 0;
  for (const Tensor *tensor : in) elements += tensor == nullptr ? 0 : tensor->data.size();
  for (const Tensor &tensor : *out) elements += tensor.data.size();
  if (elements > kMostDims)
    throw Refusal("it computes " + std::to_string(elements) + " elements with the number of steps or batch rows; accepted: up to " +
                  std::to_string(kMostDims));
  if (moves_dims(op)) return fold_moved(call, in, out);
  if (works_on_each(op)) return fold_each(call, in, &(*out)[0]);
  if (fold_reduced(call, *in[0], &(*out)[0])) return;
  for (Tensor &tensor : *out) {
    std::vector<Dim> dims;
    for (const double number : tensor.data) dims.push_back(unknown_dim(call, number));
    put_dims(&tensor, std::move(dims));
  }
}

}  // namespace rnnp::compiler
