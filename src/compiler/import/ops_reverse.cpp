// ops_reverse.cpp -- ReverseSequence: steps reversed are read by a layer in the other direction, and reversed back; before all else
// they are copied. Contract: steps.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/import/concat_slices.h"
#include "compiler/import/steps.h"

namespace rnnp::compiler {
namespace {

bool is_length_of(const OpCall &call, const Tensor &lengths, const Axis &axis) {
  const std::vector<Dim> given = to_dims(lengths);
  return std::all_of(given.begin(), given.end(), [&](const Dim &length) { return length == call.b.dim_of(axis); });
}

// All elements of a file of fixed sizes, the same number for each row.
bool is_all_of(const OpCall &call, const Value &lengths, const Axis &axis) {
  const auto is_all = [&](float length) { return Dim(static_cast<int64_t>(length)) == call.b.dim_of(axis); };
  return lengths.kind == ValueKind::kConst && !lengths.f32.empty() && std::all_of(lengths.f32.begin(), lengths.f32.end(), is_all);
}

// How many elements are reversed: kAllReversed, or the value of an input with a number for each row.
int64_t lengths_of(const OpCall &call, const Axis &axis) {
  Builder &b = call.b;
  if (!call.is_const(1) && b.step_counts.count(call.input(1).view.value) != 0) return kAllReversed;
  if (call.is_const(1)) {
    if (is_length_of(call, call.sizes(1, "sequence_lens"), axis)) return kAllReversed;
    throw Refusal("sequence_lens are constants and not all steps; accepted: all steps, or an input [batch]");
  }
  const View lengths = call.view(1);
  const Value &value = b.graph.values[lengths.value];
  if (is_all_of(call, value, axis)) return kAllReversed;
  const bool rows = lengths.axes.size() == 1 &&
                    (lengths.axes[0].empty() || (lengths.axes[0].size() == 1 && lengths.axes[0][0].kind == Atom::Kind::kBatch));
  if (value.kind != ValueKind::kInput || value.dtype != DType::kI32 || !rows)
    throw Refusal("sequence_lens has axes " + view_text(lengths) + "; accepted: a graph input [batch] of integers, or all steps");
  return lengths.value;
}

void reverse_sequence(OpCall &call) {
  const View x = call.any_view(0);
  const size_t time = normal_axis(call.attributes.integer("time_axis", 0), x.axes.size());
  const size_t batch = normal_axis(call.attributes.integer("batch_axis", 1), x.axes.size());
  if (time == batch || time > 1 || batch > 1) throw Refusal("its axes are not the first two; accepted: one of them each");
  if (call.b.discovering) {
    if (!call.is_const(1) && call.b.step_counts.count(call.input(1).view.value) == 0) {
      const View lengths = call.view(1);
      if (lengths.axes.size() == 1)
        call.b.origins->mark(lengths.axes[0], AxisRole::kBatch, "lengths are given for each element of it");
    }
    return call.give(0, x);
  }
  if (x.axes[time].empty()) return call.give(0, x);
  const int64_t lengths = lengths_of(call, x.axes[time]);
  if (axis_is_features(x.axes[time])) {
    if (lengths != kAllReversed) throw Refusal("it turns a part of " + view_text(x) + " round; accepted: all of it, or steps");
    const int64_t size = axis_size(x.axes[time]);
    return call.give(0, cut(call, x, {time, size - 1, size, -1}));
  }
  if (x.axes[time][0].kind != Atom::Kind::kTime)
    throw Refusal("it turns the batch axis of " + view_text(x) + " round; accepted: steps");
  call.give(0, reverse_steps(call, x, time, lengths));
}

}  // namespace

const std::vector<ImportRow> kImportReverse = {
    {"ReverseSequence", reverse_sequence,
     "all steps, or each row's by an input of lengths [batch]; a recurrent layer behind it runs in reverse at no cost", 10},
};

}  // namespace rnnp::compiler
