// concat_slices.cpp -- Contract: concat_slices.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/concat_slices.h"

#include <algorithm>

#include "compiler/import/steps.h"

namespace rnnp::compiler {
namespace {

bool is_symbol_axis(const Axis &axis, Atom::Kind kind) {
  return std::any_of(axis.begin(), axis.end(), [&](const Atom &atom) { return atom.kind == kind; });
}

// Of the time axis: all of it from the last step to the first, one step, or all but some at its ends.
View cut_time(OpCall &call, const View &view, const SliceRange &range) {
  const Axis &axis = view.axes[range.axis];
  const int64_t size = axis_size(axis);
  if (range.step == -1 && range.first == size - 1 && range.count == size)
    return reverse_steps(call, view, range.axis, kAllReversed);
  if (axis.size() != 1 || (range.count != 1 && range.step != 1))
    throw Refusal("it takes a part of the time axis; accepted: the whole, the first or the last step");
  if (range.count != 1) return cut_steps(call, view, range);
  if (axis[0].reversed != kAllReversed) return picked_step(call, view, range.axis, range.first);
  View in_order = view;
  take_reversal(&in_order);
  return picked_step(call, in_order, range.axis, size - 1 - range.first);
}

// The parts' sizes outside the axis are the same.
void meet_outside(Builder &b, View *out, View *part, size_t axis) {
  if (part->axes.size() != out->axes.size()) throw Refusal("its inputs differ in rank");
  for (size_t i = 0; i < out->axes.size(); ++i) {
    if (i == axis) continue;
    Axis mine, other;
    b.unify(&out->axes[i], &part->axes[i]);
    if (axis_size(out->axes[i]) != axis_size(part->axes[i]) || !align_axes(out->axes[i], part->axes[i], &mine, &other)) {
      throw Refusal("its inputs differ outside the axis: " + view_text(*out) + " and " + view_text(*part) +
                    "; accepted: the same sizes on every other axis");
    }
    // Of input axes that are joined one cannot be longer than the other. Batch and steps merged are two in each part.
    const bool one_each = out->axes[i].size() == 1 && part->axes[i].size() == 1;
    if (b.discovering && one_each && mine.size() == 2 && mine[0].origin >= 0 && mine[1].origin >= 0) {
      b.origins->unite(mine[0].origin, mine[1].origin);
      mine.pop_back();
    }
    for (size_t k = 0; k < std::min(mine.size(), other.size()); ++k) {
      if (mine[k].origin >= 0 && other[k].origin >= 0) b.origins->unite(mine[k].origin, other[k].origin);
      if (mine[k].origin < 0) mine[k].origin = other[k].origin;
    }
    out->axes[i] = mine;
  }
}

// The axis' elements as rows, those that are the same as one.
std::vector<std::pair<View, int64_t>> rows_of(const View &part, size_t axis) {
  constexpr int64_t kMostRows = 16;
  const int64_t size = axis_size(part.axes[axis]);
  const bool same = std::all_of(part.axes[axis].begin(), part.axes[axis].end(), [](const Atom &atom) { return atom.stride == 0; });
  if (!same && size > kMostRows)
    throw Refusal("it puts " + std::to_string(size) + " rows beside the steps; accepted: up to " + std::to_string(kMostRows));
  std::vector<std::pair<View, int64_t>> rows;
  for (int64_t i = 0; i < (same ? 1 : size); ++i) rows.emplace_back(slice_axis(part, axis, i, 1, 1), same ? size : 1);
  return rows;
}

}  // namespace

View cut(OpCall &call, const View &view, const SliceRange &range) {
  const Axis &axis = view.axes[range.axis];
  const int64_t size = axis_size(axis);
  // One row of an input fixed at one counts as all rows. Where another input leaves the batch open, it may be one of several.
  const bool one_of_rows = size == 1 && is_symbol_axis(axis, Atom::Kind::kBatch) && call.b.origins->any_open(AxisRole::kBatch);
  if (one_of_rows && !call.b.discovering)
    throw Refusal("it takes one row of the batch, which one input leaves open and another fixes at 1; accepted: the same of both");
  if (range.first == 0 && range.count == size && range.step == 1) return view;
  if (range.count == 1 && size == 1) return view;
  if (is_symbol_axis(axis, Atom::Kind::kTime)) return cut_time(call, view, range);
  if (is_symbol_axis(axis, Atom::Kind::kBatch)) throw Refusal("it takes a part of the batch axis; accepted: the whole");
  if (may_be_steps(call.b, axis) && range.step == 1 && range.count > 1) return cut_steps(call, view, range);
  const bool turns = range.step == -1 && range.first == size - 1 && range.count == size;
  if (call.b.discovering && turns && may_be_steps(call.b, axis)) return view;
  View whole = view;
  if (merged(axis).size() > 1) whole = call.b.copied(view, call.b.is_sequence(view), call.name);
  return slice_axis(whole, range.axis, range.first, range.count, range.step);
}

std::optional<View> joined_steps(OpCall &call, const std::vector<View> &given, size_t axis) {
  Builder &b = call.b;
  std::vector<View> parts = given;
  size_t at = parts.size();
  int64_t counts[2] = {0, 0};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].axes.size() != parts[0].axes.size()) return std::nullopt;
    if (may_be_steps(b, parts[i].axes[axis])) {
      if (at != parts.size()) return std::nullopt;
      at = i;
    } else if (axis_is_features(parts[i].axes[axis])) {
      counts[at == parts.size() ? 0 : 1] += axis_size(parts[i].axes[axis]);
    } else {
      return std::nullopt;
    }
  }
  if (at == parts.size() || parts.size() == 1 || !may_take_rows(b, parts[at].axes[axis], counts[0] + counts[1]))
    return std::nullopt;
  b.spread_constants(parts.data(), parts.size(), axis);
  View steps = parts[at];
  bool zeros = true;
  std::vector<std::pair<View, int64_t>> rows[2];
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == at) continue;
    View &part = parts[i];
    part = settled(b, part, call.name);
    if (b.is_sequence(part) && !b.discovering)
      throw Refusal("it puts " + view_text(part) +
                    ", which differs from step to step, beside the steps; accepted: rows that do not");
    meet_outside(b, &steps, &part, axis);
    zeros = zeros && b.is_zero(part);
    steps.bounds = hull(steps.bounds, part.bounds);
    for (auto &row : rows_of(part, axis)) rows[i < at ? 0 : 1].push_back(row);
  }
  if (zeros) return pad_steps(call, steps, axis, counts[0], counts[1]);
  return put_beside(call, steps, axis, std::move(rows[0]), std::move(rows[1]));
}

View joined(OpCall &call, std::vector<View> parts, size_t axis) {
  Builder &b = call.b;
  View out = parts[0];
  std::vector<int64_t> sizes;
  int64_t total = 0;
  bool sequence = false;
  b.spread_constants(parts.data(), parts.size(), axis);
  out = parts[0];
  for (View &part : parts) {
    if (!axis_is_features(part.axes[axis])) throw Refusal("it joins along the time or batch axis; accepted: feature axes");
    meet_outside(b, &out, &part, axis);
    sizes.push_back(axis_size(part.axes[axis]));
    total = plus(total, sizes.back());
    sequence = sequence || b.is_sequence(part);
    out.bounds = hull(out.bounds, part.bounds);
  }
  // The row keeps the order of the first part, so that what lies channels-last stays so.
  const Axis first = merged(parts[0].axes[axis]);
  out.axes[axis] = {Atom{Atom::Kind::kFeature, total, first.empty() ? 0 : first.back().stride, -1}};
  out = packed_in_order(out);
  out.value = b.new_row(feature_count(out), sequence);
  const int64_t step = out.axes[axis][0].stride;
  int64_t offset = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    std::vector<CopyDim> dims;
    for (size_t i = 0; i < out.axes.size(); ++i) {
      if (i == axis) {
        int64_t rest = sizes[p];
        for (const Atom &atom : parts[p].axes[axis]) {
          rest /= atom.size;
          dims.push_back({atom.size, atom.stride, times(rest, step)});
        }
        continue;
      }
      Axis to, from;
      align_axes(out.axes[i], parts[p].axes[i], &to, &from);
      for (size_t k = 0; k < to.size(); ++k) {
        if (to[k].is_feature()) dims.push_back({to[k].size, from[k].stride, to[k].stride});
      }
    }
    if (b.graph.values[parts[p].value].dtype != DType::kF32) throw Refusal("it joins integers at run time; accepted: float");
    b.graph.nodes.push_back(
        {OpKind::kCopy, call.name, {parts[p].value}, {out.value}, copy_attr(dims, parts[p].first, times(offset, step))});
    offset = plus(offset, sizes[p]);
  }
  return out;
}

}  // namespace rnnp::compiler
