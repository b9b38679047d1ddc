// op_call.cpp -- what an operator's importer asks of its node: operands as views or constants, and results. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/import/steps.h"

namespace rnnp::compiler {

size_t OpCall::input_count() const {
  return static_cast<size_t>(node.input_size());
}
size_t OpCall::output_count() const {
  return static_cast<size_t>(node.output_size());
}
bool OpCall::has(size_t i) const {
  return i < input_count() && !node.input(static_cast<int>(i)).empty();
}
bool OpCall::wants(size_t i) const {
  return i < output_count() && !node.output(static_cast<int>(i)).empty();
}

const Bound &OpCall::input(size_t i) const {
  if (!has(i)) throw Refusal("input " + std::to_string(i) + " is missing");
  const auto found = b.bound.find(node.input(static_cast<int>(i)));
  if (found == b.bound.end())
    throw Refusal("input " + std::to_string(i) + " (" + quote(node.input(static_cast<int>(i))) +
                  ") is nowhere made, or has no elements");
  return found->second;
}

bool OpCall::is_const(size_t i) const {
  return has(i) && input(i).kind == Bound::Kind::kConst;
}

namespace {

void check_known(const Tensor &tensor, const std::string &what) {
  for (const Dim &dim : tensor.dims) {
    if (!dim.is_number())
      throw Refusal(what + " has the element " + dim.text() + ", which is not known before run time; accepted: constants");
  }
}

}  // namespace

const Tensor &OpCall::constant(size_t i, const char *what) const {
  const Tensor &tensor = sizes(i, what);
  if (!b.discovering) check_known(tensor, what);
  return tensor;
}

const Tensor &OpCall::sizes(size_t i, const char *what) const {
  const Bound &bound = input(i);
  if (bound.kind == Bound::Kind::kConst) return *bound.tensor;
  const std::string &title = node.input(static_cast<int>(i));
  const bool is_input = b.graph.values[bound.view.value].kind == ValueKind::kInput;
  throw Refusal(std::string(what) + " (" + quote(title) + ") is " + (is_input ? "a graph input" : "computed at run time") +
                    "; accepted: an initializer or a constant",
                is_input && is_plain(title) ? Remedy{{"--set " + title + "=VALUE"}, "the input becomes a constant"} : Remedy());
}

void check_not_quantized(const View &view, const std::string &what) {
  if (view.quantized)
    throw Refusal(what +
                  " comes from QuantizeLinear; accepted: DequantizeLinear behind that, with nothing in between that computes");
}

View OpCall::any_view(size_t i) const {
  const Bound &bound = input(i);
  if (bound.kind == Bound::Kind::kConst) return b.const_view(*bound.tensor);
  if (b.step_counts.count(bound.view.value) != 0)
    throw Refusal("it computes with the number of steps, which is not known before run time");
  static const std::set<std::string> kMayFollow = {"DequantizeLinear", "Flatten", "Identity",  "Pad",
                                                   "Reshape",          "Squeeze", "Transpose", "Unsqueeze"};
  if (kMayFollow.count(node.op_type()) == 0) check_not_quantized(bound.view, "input " + std::to_string(i));
  static const std::set<std::string> kMayTakeRows = {"Concat", "Identity", "Pad",       "Shape",
                                                     "Slice",  "Squeeze",  "Transpose", "Unsqueeze"};
  if (kMayTakeRows.count(node.op_type()) == 0 && has_rows_beside(b, bound.view)) return settled(b, bound.view, name);
  return bound.view;
}

View OpCall::view(size_t i) const {
  return settled(b, any_view(i), name);
}

View OpCall::pointwise_view(size_t i, bool keeps_zero) const {
  const View out = any_view(i);
  if (b.graph.values[out.value].dtype != DType::kF32 || out.mask || out.whole) return real_view(i);
  return keeps_zero ? settled_but_zeros(b, out, name) : settled_but_unknown(b, out, name);
}

View OpCall::real_view(size_t i) const {
  View out = view(i);
  if (b.graph.values[out.value].dtype != DType::kF32)
    throw Refusal("input " + std::to_string(i) + " is an integer tensor; accepted: float");
  if (out.mask) throw Refusal("input " + std::to_string(i) + " is a bool tensor; accepted: float");
  if (out.whole) throw Refusal("input " + std::to_string(i) + " is an integer tensor; accepted: float");
  return out;
}

View OpCall::per_channel(size_t i, const View &x) const {
  View p = real_view(i);
  if (p.axes.size() != 1 || axis_size(p.axes[0]) != axis_size(x.axes[1]))
    throw Refusal("input " + std::to_string(i) + " " + view_text(p) + " does not fit the channels of " + view_text(x));
  const bool repeated = b.graph.values[p.value].kind == ValueKind::kConst &&
                        std::all_of(p.axes[0].begin(), p.axes[0].end(), [](const Atom &atom) { return atom.stride == 0; });
  if (repeated) {  // one number for all rows, whichever of steps and batch comes first in them
    p.axes[0] = x.axes[1];
    for (Atom &atom : p.axes[0]) atom.stride = 0;
  }
  for (size_t axis = 2; axis < x.axes.size(); ++axis) p.axes.emplace_back();
  return p;
}

View OpCall::number_view(size_t i) const {
  const Bound &bound = input(i);
  if (bound.kind == Bound::Kind::kView && b.graph.values[bound.view.value].dtype != DType::kF32) {
    View numbers = bound.view;
    const int64_t reversed = take_reversal(&numbers);
    numbers = b.as_numbers(settled(b, numbers, name), name);
    put_reversal(&numbers, reversed);
    return settled(b, numbers, name);
  }
  const View out = any_view(i);
  return out.whole ? settled(b, out, name) : pointwise_view(i);
}

View OpCall::mask_view(size_t i) const {
  View out = view(i);
  if (!out.mask) throw Refusal("input " + std::to_string(i) + " is not a bool tensor");
  return out;
}

namespace {

// Steps and batch rows are one axis each, and one element is no axis of steps but where the run has one.
void check_steps(const View &view) {
  int times = 0, batches = 0;
  for (const Axis &axis : view.axes) {
    for (const Atom &atom : axis) {
      if (atom.is_feature()) continue;
      const bool is_time = atom.kind == Atom::Kind::kTime;
      if (is_time && atom.size == 1 && (atom.lead != 0 || atom.trail != 0))
        throw Refusal("it gives one of the " + std::to_string(atom.steps()) + " steps of the run; accepted: the first or the last");
      if (atom.size != 1) ++(is_time ? times : batches);
    }
  }
  if (times > 1 || batches > 1)
    throw Refusal("its result " + view_text(view) + " has the " + (times > 1 ? "steps" : "batch rows") +
                  " along two axes; accepted: one");
}

}  // namespace

void OpCall::give(size_t i, View view) {
  if (!wants(i)) return;
  // Views are copied from node to node, so that what a file can ask of one is bounded.
  constexpr size_t kMostAtoms = 256;
  size_t atoms = 0;
  for (const Axis &axis : view.axes) atoms += axis.size();
  if (view.axes.size() > kMaxTensorRank || atoms > kMostAtoms)
    throw Refusal("its result has too many axes, or axes in too many parts");
  if (!b.discovering) check_steps(view);
  b.bound[node.output(static_cast<int>(i))] = {Bound::Kind::kView, nullptr, std::move(view)};
}

void OpCall::give(size_t i, Tensor tensor) {
  give(i, std::make_shared<const Tensor>(std::move(tensor)));
}

void OpCall::give(size_t i, std::shared_ptr<const Tensor> tensor) {
  if (wants(i)) b.bound[node.output(static_cast<int>(i))] = {Bound::Kind::kConst, std::move(tensor), {}};
}

std::string OpCall::run_time_input() const {
  for (size_t i = 0; i < input_count(); ++i) {
    if (!has(i) || is_const(i)) continue;
    const std::string &title = node.input(static_cast<int>(i));
    const Value &value = b.graph.values[input(i).view.value];
    if (value.kind != ValueKind::kInput) return "; " + quote(title) + " is computed at run time";
    return "; " + quote(title) + " is an input" +
           (value.dtype != DType::kF32 ? ", which --set " + title + "=VALUE makes a constant" : "");
  }
  return "";
}

std::vector<const Tensor *> OpCall::constants() const {
  std::vector<const Tensor *> out = constants_and_sizes();
  for (size_t i = 0; i < out.size() && !b.discovering; ++i) {
    if (out[i] != nullptr) check_known(*out[i], "input " + std::to_string(i));
  }
  return out;
}

std::vector<const Tensor *> OpCall::constants_and_sizes() const {
  std::vector<const Tensor *> out;
  for (size_t i = 0; i < input_count(); ++i) out.push_back(is_const(i) ? input(i).tensor.get() : nullptr);
  return out;
}

}  // namespace rnnp::compiler
