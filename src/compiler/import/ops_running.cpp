// ops_running.cpp -- CumSum: over features by sums at doubling distances, over time with the sum so far as a state of the library.
// Contract: builder.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/concat_slices.h"
#include "compiler/import/steps.h"

namespace rnnp::compiler {
namespace {

View zeros_like(Builder &b, const View &x, size_t axis, int64_t count) {
  Tensor zero(x.whole ? Elem::kInt : Elem::kFloat, {});
  View piece = x;
  const View scalar = b.const_view(zero);
  piece.value = scalar.value;
  piece.first = 0;
  for (Axis &each : piece.axes) {
    for (Atom &atom : each) atom.stride = 0;
  }
  piece.axes[axis] = count == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, count, 0, -1}};
  return piece;
}

// Elements `by` places later, zeros in front.
View moved(OpCall &call, const View &x, size_t axis, int64_t by) {
  const int64_t size = axis_size(x.axes[axis]);
  View out = joined(call, {zeros_like(call.b, x, axis, by), cut(call, x, {axis, 0, size - by, 1})}, axis);
  out.whole = x.whole;
  return out;
}

View over_features(OpCall &call, View x, size_t axis, bool exclusive, bool reverse) {
  constexpr int64_t kMost = int64_t{1} << 16;
  const int64_t size = axis_size(x.axes[axis]);
  if (size > kMost && !call.b.discovering)
    throw Refusal("it adds along an axis of " + std::to_string(size) + "; accepted: up to 65536");
  if (size == 1) return exclusive ? call.b.copied(zeros_like(call.b, x, axis, 1), call.b.is_sequence(x), call.name) : x;
  x = call.b.dense(call.b.as_row(x, call.name), call.name);
  if (reverse) x = slice_axis(x, axis, size - 1, size, -1);
  if (exclusive) x = moved(call, x, axis, 1);
  for (int64_t by = 1; by < size; by *= 2) {
    x = call.b.binary(Binary::kAdd, x, moved(call, x, axis, by), call.name);
  }
  return reverse ? slice_axis(call.b.dense(x, call.name), axis, size - 1, size, -1) : x;
}

View over_steps(OpCall &call, View given, size_t axis, bool exclusive, bool reverse) {
  Builder &b = call.b;
  if (reverse) given = in_order(b, reverse_steps(call, given, axis, kAllReversed), call.name);
  const View x = b.is_sequence(given) ? b.dense(given, call.name) : b.copied(given, true, call.name);
  const StateRef state{static_cast<uint32_t>(b.graph.states.size())};
  b.graph.states.push_back({call.name, b.row_elems(x), false});
  View before = x;
  before.value = b.new_row(b.row_elems(x), true);
  b.graph.nodes.push_back({OpKind::kStateRead, call.name, {}, {before.value}, state});
  const View sum = b.binary(Binary::kAdd, before, x, call.name);
  b.graph.nodes.push_back({OpKind::kStateWrite, call.name, {sum.value, kNone}, {}, state});
  const View out = exclusive ? before : sum;
  return reverse ? reverse_steps(call, out, axis, kAllReversed) : out;
}

bool is_const_value(const Builder &b, const View &x) {
  return b.graph.values[x.value].kind == ValueKind::kConst;
}

void cum_sum(OpCall &call) {
  const View given = call.number_view(0);
  const View x = call.b.discovering ? given : settled(call.b, given, call.name);  // steps that were left out would be added too
  const Tensor &at = call.constant(1, "axis");
  if (at.size() != 1 || at.is_dynamic()) throw Refusal("axis is not one constant");
  const size_t axis = normal_axis(to_ints(at)[0], x.axes.size());
  const bool exclusive = call.attributes.integer("exclusive", 0) != 0, reverse = call.attributes.integer("reverse", 0) != 0;
  const Axis along = merged(x.axes[axis]);
  View out;
  const bool open = along.size() == 1 && (along[0].origin >= 0 || is_const_value(call.b, x));
  if (call.b.discovering && open) {
    out = densified(x);
    out.value = call.b.new_row(feature_count(x), true);
    call.b.graph.nodes.push_back({OpKind::kUnary, call.name, {x.value}, {out.value}, AttrUnary{}});
  } else if (axis_is_features(along)) {
    out = over_features(call, x, axis, exclusive, reverse);
  } else if (along.size() == 1 && along[0].kind == Atom::Kind::kTime) {
    out = over_steps(call, x, axis, exclusive, reverse);
  } else {
    throw Refusal("it adds along " + view_text(x) + "; accepted: features, or the steps alone");
  }
  out.whole = x.whole;
  call.give(0, out);
}

}  // namespace

const std::vector<ImportRow> kImportRunning = {
    {"CumSum", cum_sum, "constant axis: features, or time, with a persistent sum", 11},
};

}  // namespace rnnp::compiler
