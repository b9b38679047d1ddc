// steps.cpp -- Contract: steps.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/steps.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "compiler/import/select.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostLead = int64_t{1} << 24;
// Elements of an open number of steps are counted from the end that they are this near to.
constexpr int64_t kNearEnd = int64_t{1} << 16;

std::string count_text(int64_t steps) {
  return std::to_string(std::abs(steps)) + (std::abs(steps) == 1 ? " step " : " steps ") + (steps < 0 ? "fewer" : "more");
}

bool is_open(const Builder &b, const Atom &atom) {
  return atom.kind == Atom::Kind::kTime ? b.time_dynamic : atom.origin >= 0 && b.origins->dynamic(atom.origin);
}

[[noreturn]] void refuse(const Builder &b, const View &view, const Atom &atom) {
  const auto found = b.off_steps.find(view.value);
  throw Refusal("it works on " + view_text(view) + ", where " +
                (found == b.off_steps.end() ? "the number of steps is changed" : found->second) + ": " +
                count_text(atom.lead + atom.trail) + " than the run has");
}

// What may be off the run's steps for an operator that works on each element alone.
enum class MayStay : uint8_t { kNothing, kUnknown, kZerosToo };

View settled_if(Builder &b, const View &given, MayStay may_stay, const std::string &name) {
  View view = in_order(b, given, name);
  if (has_rows_beside(b, view)) may_stay = MayStay::kNothing;
  for (Axis &axis : view.axes) {
    for (Atom &atom : axis) {
      const bool stays = atom.zeros ? may_stay == MayStay::kZerosToo : may_stay != MayStay::kNothing && atom.lead <= 0;
      if (!atom.is_off_steps() || stays) continue;
      if (!b.discovering) refuse(b, view, atom);
      atom = Atom{Atom::Kind::kFeature, atom.size, atom.stride, -1};
    }
  }
  return view;
}

// Rows of `view` a number of steps later (or earlier, below 0), zeros where there are none: a convolution with one tap.
View shifted_by_zeros(OpCall &call, const View &view, int64_t steps) {
  Builder &b = call.b;
  if (b.graph.values[view.value].dtype != DType::kF32) throw Refusal("it shifts integers in time; accepted: float");
  const View x = b.is_sequence(view) ? view : b.copied(view, true, call.name);  // one row for all steps, and zeros beside them
  const uint32_t elems = b.row_elems(x);
  Conv conv;
  AttrConv &a = conv.shape;
  a.time_taps = a.time_dilation = a.in_channels = a.out_channels = 1;
  a.lead = static_cast<int32_t>(steps);
  a.groups = elems;
  a.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {0, 0, 1}, 0, {elems, elems}};
  conv.w.assign(elems, 1.0f);
  View out = x;
  out.value = b.new_row(elems, true);
  b.graph.nodes.push_back({OpKind::kConv, call.name, {x.value}, {out.value}, std::move(conv)});
  return out;
}

// The convolutions that make the value, made again to begin `steps` later.
View shifted_by_maker(OpCall &call, const View &view, int64_t steps) {
  Builder &b = call.b;
  View out = view;
  out.value = b.new_row(b.row_elems(view), true);
  if (b.exact_beyond.count(view.value) == 0)
    throw Refusal("it takes steps that a convolution gives of what was made shorter before it");
  std::vector<Node> again;
  for (const Node &node : b.graph.nodes) {
    if (std::find(node.out.begin(), node.out.end(), view.value) == node.out.end()) continue;
    if (node.op != OpKind::kConv) throw Refusal("it leaves out the first steps of what is no convolution's own result");
    again.push_back(node);
    again.back().out[0] = out.value;
    std::get<Conv>(again.back().attr).shape.lead -= static_cast<int32_t>(steps);
  }
  if (again.empty()) throw Refusal("it leaves out the first steps of an input");
  b.graph.nodes.insert(b.graph.nodes.end(), again.begin(), again.end());
  return out;
}

// 1 in every step but the first `first` and the last `last` ones, beside the steps of `like`.
View steps_but(OpCall &call, const View &like, size_t axis, int64_t first, int64_t last) {
  Tensor one(Elem::kFloat, {});
  one.data[0] = 1;
  View mask = shifted_by_zeros(call, call.b.const_view(one), first > 0 ? first : -last);
  mask.axes.assign(like.axes.size(), Axis{});
  mask.axes[axis] = {Atom{Atom::Kind::kTime, like.axes[axis][0].size, 0, -1}};
  mask.mask = true;
  return mask;
}

// The value's steps so many later, and the rows beside them in the places of those that it has none for.
View with_rows(OpCall &call, const View &view, size_t axis, int64_t later, const RowsBeside &rows) {
  View out = later == 0 ? view : shifted_by_zeros(call, view, later);
  int64_t first = later - rows.lead, last = -later - rows.trail;
  for (auto row = rows.before.rbegin(); row != rows.before.rend() && first > 0; first -= row->second, ++row)
    out = chosen(call.b, steps_but(call, out, axis, first, 0), out, row->first, call.name);
  for (auto row = rows.behind.begin(); row != rows.behind.end() && last > 0; last -= row->second, ++row)
    out = chosen(call.b, steps_but(call, out, axis, 0, last), out, row->first, call.name);
  return out;
}

// Of lead + trail == 0: what was added on one side is taken off the other.
View evened(OpCall &call, View view, size_t axis) {
  Atom &atom = view.axes[axis][0];
  const int64_t later = atom.lead;
  const bool zeros = atom.zeros, has_rows = has_rows_beside(call.b, view);
  atom.lead = atom.trail = 0;
  atom.zeros = false;
  if ((later == 0 && !has_rows) || call.b.discovering) return view;
  if (std::abs(later) > kMostLead) throw Refusal("it shifts by " + std::to_string(later) + " steps; accepted: up to 16777216");
  if (has_rows) return with_rows(call, view, axis, later, call.b.rows_beside[view.value]);
  if (zeros) return shifted_by_zeros(call, view, later);
  if (later > 0) throw Refusal("it puts steps that are not computed before the first one");
  return shifted_by_maker(call, view, -later);
}

// What depends on a state that is kept from step to step, and so becomes one result a step (ir/layers_by_step.h).
bool becomes_sequence(const Builder &b, uint32_t value) {
  std::set<uint32_t> behind = {value};
  for (auto node = b.graph.nodes.rbegin(); node != b.graph.nodes.rend(); ++node) {
    const bool makes = std::any_of(node->out.begin(), node->out.end(), [&](uint32_t v) { return behind.count(v) != 0; });
    if (makes) behind.insert(node->in.begin(), node->in.end());
  }
  return std::any_of(b.graph.inputs.begin(), b.graph.inputs.end(),
                     [&](const Io &input) { return behind.count(input.value) != 0 && b.kept.count(input.name) != 0; });
}

}  // namespace

View in_order(Builder &b, View view, const std::string &name) {
  const int64_t reversed = take_reversal(&view);
  if (reversed == kInOrder) return view;
  if (!b.is_sequence(view)) {
    if (!becomes_sequence(b, view.value)) return view;  // all steps are the same
    view = b.copied(view, true, name);
  }
  const auto turn = b.reversed_by.find(view.value);
  const std::string by = turn == b.reversed_by.end() ? name : turn->second;
  if (b.graph.values[view.value].dtype != DType::kF32)
    throw Refusal("it reads integers whose steps node " + quote(by) + " reversed; accepted: float, or indices of a Gather");
  if (feature_count(view) < int64_t{b.row_elems(view)}) view = b.copied(view, true, by);
  const uint32_t from = view.value;
  view.value = b.new_row(b.row_elems(view), true);
  const uint32_t lengths = reversed == kAllReversed ? kNone : static_cast<uint32_t>(reversed);
  b.graph.nodes.push_back({OpKind::kTimeReverse, by, {from, lengths}, {view.value}, AttrTimeReverse{0}});
  return view;
}

bool may_be_steps(const Builder &b, const Axis &axis) {
  return axis.size() == 1 && (axis[0].kind == Atom::Kind::kTime || (b.discovering && axis[0].origin >= 0));
}

bool is_off_steps(const View &view) {
  for (const Axis &axis : view.axes) {
    for (const Atom &atom : axis) {
      if (atom.is_off_steps()) return true;
    }
  }
  return false;
}

bool has_rows_beside(const Builder &b, const View &view) {
  const auto rows = b.rows_beside.find(view.value);
  if (rows == b.rows_beside.end()) return false;
  for (const Axis &axis : view.axes) {
    for (const Atom &atom : axis) {
      if (atom.kind == Atom::Kind::kTime && (atom.lead > rows->second.lead || atom.trail > rows->second.trail)) return true;
    }
  }
  return false;
}

bool may_take_rows(const Builder &b, const Axis &axis, int64_t more) {
  return !b.discovering || is_open(b, axis[0]) || axis[0].lead + axis[0].trail == -more;
}

View settled(Builder &b, const View &view, const std::string &name) {
  return settled_if(b, view, MayStay::kNothing, name);
}

View settled_but_unknown(Builder &b, const View &view, const std::string &name) {
  return settled_if(b, view, MayStay::kUnknown, name);
}

View settled_but_zeros(Builder &b, const View &view, const std::string &name) {
  return settled_if(b, view, MayStay::kZerosToo, name);
}

namespace {

// Rows of `view` so many steps later (below 0: earlier), zeros where there are none; a convolution's as it would give them there.
View moved_steps(OpCall &call, const View &view, const Atom &atom, int64_t later, int64_t beyond) {
  Builder &b = call.b;
  if (std::abs(later) > kMostLead) throw Refusal("it takes a step " + std::to_string(later) + " from the end of the run");
  const bool by_conv = b.exact_beyond.count(view.value) != 0;
  if (by_conv && !atom.zeros) return shifted_by_maker(call, view, -later);
  if (beyond > 0 && !atom.zeros)
    throw Refusal("it takes a step of " + view_text(view) + " that lies " + std::to_string(beyond) +
                  " beyond the run and was computed further; accepted: of a convolution's own result");
  return shifted_by_zeros(call, b.dense(view, call.name), later);
}

// A view of `size` elements has no element `index` in runs of so few steps.
void note_short_runs(const OpCall &call, const View &view, const Atom &atom, int64_t index) {
  const int64_t from_end = atom.size - 1 - index;
  const int64_t fewest = std::min(index, from_end) + 1 - atom.lead - atom.trail;
  ShortRuns &noted = call.b.graph.short_runs;
  if (call.b.discovering || !call.b.time_dynamic || fewest <= noted.fewest) return;
  noted = {fewest, "node " + quote(call.name) + " (" + call.node.op_type() + "): it takes one step of " + view_text(view) +
                       ", and the file goes on without any where a run has fewer than " + std::to_string(fewest) +
                       " steps; accepted: the step of a Gather, or a Squeeze behind it, which such runs do not have"};
}

}  // namespace

View picked_step(OpCall &call, const View &given, size_t axis, int64_t index) {
  Builder &b = call.b;
  const View view = in_order(b, given, call.name);
  const Atom atom = view.axes[axis][0];
  if (has_rows_beside(b, view)) refuse(b, view, atom);
  note_short_runs(call, view, atom, index);
  // Of the run's steps, counted from both ends.
  const int64_t front = index - atom.lead, back = atom.size - 1 - index - atom.trail;
  View out = view;
  out.axes[axis].clear();
  if (front == 0 || back == 0) return b.is_sequence(view) ? b.time_step(out, back == 0, call.name) : out;
  if (front > 0 && back > 0 && !b.is_sequence(view)) return out;
  if (!b.time_dynamic)
    throw Refusal("it takes step " + std::to_string(index) + " of " + view_text(view) +
                  "; accepted: the first or the last of the run, where their number is fixed");
  const bool by_front = std::abs(front) <= kNearEnd, by_back = std::abs(back) <= kNearEnd;
  if (!by_front && !by_back)
    throw Refusal("it takes a step of " + view_text(view) +
                  " that is computed from their number; accepted: one counted from either end");
  // In a run of so few steps it is one behind the last, or before the first.
  const bool leaves_the_run = by_front ? front > 0 && atom.trail > 0 : back > 0 && atom.lead > 0;
  if (leaves_the_run && b.is_sequence(view) && !atom.zeros && b.exact_beyond.count(view.value) == 0)
    throw Refusal("it takes step " + std::to_string(by_front ? index : -1 - (atom.size - 1 - index)) + " of " + view_text(view) +
                  ", which a run of few steps has not, and what lies there was computed further; accepted: of a convolution's own "
                  "result");
  View moved = by_front ? moved_steps(call, out, atom, -front, -front) : moved_steps(call, out, atom, back, -back);
  return b.time_step(moved, !by_front, call.name);
}

View cut_steps(OpCall &call, const View &view, const SliceRange &range) {
  if (range.count < 1) throw Refusal("the slice is empty");
  View out = in_order(call.b, view, call.name);
  Atom &atom = out.axes[range.axis][0];
  if (is_open(call.b, atom) && (range.first > kNearEnd || atom.size - range.first - range.count > kNearEnd)) {
    // The same number of elements for all runs: no part of a time axis that one of fewer steps has too.
    if (!call.b.discovering)
      throw Refusal("it takes " +
                    (range.count > kNearEnd ? std::string("a computed part") : std::to_string(range.count) + " steps") + " of " +
                    view_text(view) + ", of which a shorter run has fewer; accepted: the whole, one step counted from " +
                    "either end, or all but some at the ends");
    out.axes[range.axis] = {Atom{Atom::Kind::kFeature, range.count, 0, -1}};
    return densified(out);
  }
  atom.lead -= range.first;
  atom.trail -= atom.size - range.first - range.count;
  atom.size = range.count;
  call.b.off_steps[out.value] =
      "node " + quote(call.name) + " (" + call.node.op_type() +
      ") takes a part of the time axis (accepted: the whole, the first or the last step, or what padding added)";
  return atom.lead + atom.trail == 0 ? evened(call, out, range.axis) : out;
}

View reverse_steps(const OpCall &call, View view, size_t axis, int64_t lengths) {
  Atom &atom = view.axes[axis][0];
  if (atom.lead != 0 || atom.trail != 0 || view.axes[axis].size() != 1)
    throw Refusal("it reverses " + view_text(view) + "; accepted: the run's steps");
  if (atom.size == 1) throw Refusal("it reverses one step; accepted: more, or an open number");
  if (atom.reversed != kInOrder && atom.reversed != lengths)
    return reverse_steps(call, in_order(call.b, view, call.name), axis, lengths);
  atom.reversed = atom.reversed == kInOrder ? lengths : kInOrder;
  call.b.reversed_by[view.value] = call.name;
  return view;
}

int64_t take_reversal(View *view) {
  int64_t reversed = kInOrder;
  for (Axis &axis : view->axes) {
    for (Atom &atom : axis) {
      if (atom.reversed != kInOrder) reversed = atom.reversed;
      atom.reversed = kInOrder;
    }
  }
  return reversed;
}

void put_reversal(View *view, int64_t reversed) {
  for (Axis &axis : view->axes) {
    for (Atom &atom : axis) {
      if (atom.kind == Atom::Kind::kTime) atom.reversed = reversed;
    }
  }
}

namespace {

// A Slice leaves none of fewer steps than it takes off, and what is put beside them is more than the run has.
void note_shortest(const OpCall &call, const Atom &atom, int64_t more) {
  const int64_t fewer = -(atom.lead + atom.trail);
  if (call.b.discovering || !call.b.time_dynamic || more <= 0 || fewer < 2) return;
  call.b.graph.notes.push_back("node " + quote(call.name) + " pads what " + std::to_string(fewer) +
                               " steps were cut off before: for runs of fewer steps than that the file gives " +
                               std::to_string(more) + ", the blob as many as the run has");
}

// So many steps more at its ends, `why` being the node's doing.
View longer(OpCall &call, View view, size_t axis, int64_t before, int64_t after, const char *why) {
  Atom &atom = view.axes[axis][0];
  note_shortest(call, atom, before + after);
  atom.lead += before;
  atom.trail += after;
  atom.size = plus(atom.size, before + after);
  if (atom.size < 1) throw Refusal("pads cuts off all of axis " + std::to_string(axis));
  call.b.off_steps[view.value] = "node " + quote(call.name) + " (" + call.node.op_type() + ") " + why;
  return atom.lead + atom.trail == 0 ? evened(call, view, axis) : view;
}

// One 0 that broadcasts to the view.
View zero_beside(Builder &b, const View &like) {
  View zero = b.const_view(Tensor(Elem::kFloat, {}));
  zero.axes.assign(like.axes.size(), Axis{});
  zero.mask = like.mask;
  zero.whole = like.whole;
  zero.bounds = {0, 0};
  return zero;
}

int64_t count_of(const std::vector<std::pair<View, int64_t>> &rows) {
  int64_t count = 0;
  for (const auto &row : rows) count += row.second;
  return count;
}

}  // namespace

View put_beside(OpCall &call, const View &view, size_t axis, std::vector<std::pair<View, int64_t>> before,
                std::vector<std::pair<View, int64_t>> behind) {
  Builder &b = call.b;
  View out = in_order(b, view, call.name);
  const Atom given = out.axes[axis][0];
  if (has_rows_beside(b, out)) refuse(b, out, given);
  if (!b.discovering && (given.lead > 0 || given.trail > 0))
    throw Refusal("it puts steps beside those of " + view_text(view) +
                  ", which has more than the run; accepted: one Concat or Pad");
  const int64_t first = count_of(before), last = count_of(behind);
  if (!b.discovering) {
    out = b.copied(out, true, call.name);
    b.rows_beside[out.value] = {given.lead, given.trail, std::move(before), std::move(behind)};
  }
  return longer(call, std::move(out), axis, first, last, "puts rows beside the steps (accepted: where Slice takes as many away)");
}

void meet_steps(OpCall &call, View *a, View *b) {
  for (size_t back = 1; back <= std::min(a->axes.size(), b->axes.size()); ++back) {
    const size_t at[2] = {a->axes.size() - back, b->axes.size() - back};
    if (!may_be_steps(call.b, a->axes[at[0]]) || !may_be_steps(call.b, b->axes[at[1]])) continue;
    Atom *atoms[2] = {&a->axes[at[0]][0], &b->axes[at[1]][0]};
    const bool cut = std::all_of(atoms, atoms + 2, [](const Atom *atom) {
      return atom->lead <= 0 && atom->trail <= 0 && !atom->zeros && atom->reversed == kInOrder;
    });
    const int64_t later = atoms[0]->lead - atoms[1]->lead;
    if (!cut || later == 0 || atoms[0]->lead + atoms[0]->trail != atoms[1]->lead + atoms[1]->trail) continue;
    View *moved = later > 0 ? a : b;
    if (!call.b.discovering) *moved = shifted_by_zeros(call, *moved, std::abs(later));
    Atom &atom = moved->axes[at[later > 0 ? 0 : 1]][0];
    atom.lead -= std::abs(later);
    atom.trail += std::abs(later);
  }
}

View pad_steps(OpCall &call, const View &view, size_t axis, int64_t before, int64_t after) {
  View out = in_order(call.b, view, call.name);
  Atom &atom = out.axes[axis][0];
  if (has_rows_beside(call.b, out) && (before > 0 || after > 0)) refuse(call.b, out, atom);
  const bool left_out = (before > 0 && atom.lead < 0) || (after > 0 && atom.trail < 0);
  if (left_out && before >= 0 && after >= 0) {
    const View zero = zero_beside(call.b, out);
    return put_beside(call, out, axis, {{zero, before}}, {{zero, after}});
  }
  const bool unknown = !atom.zeros && (atom.lead > 0 || atom.trail > 0);
  if ((unknown || left_out) && !call.b.discovering)
    throw Refusal("it pads the time axis of " + view_text(view) + " where steps were left out or are not known");
  atom.zeros = true;
  return longer(call, std::move(out), axis, before, after,
                "pads the time axis (accepted: before a convolution, or where Slice takes as much away)");
}

}  // namespace rnnp::compiler
