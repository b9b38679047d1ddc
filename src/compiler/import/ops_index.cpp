// ops_index.cpp -- elements read and written at places that are computed at run time: a ring of past steps, a table that a network
// fills. Every place is compared with the index, so the cost is that of the whole axis; a place outside it reads zeros and writes
// nothing. Contract: builder.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/index.h"

#include "compiler/import/concat_slices.h"
#include "compiler/import/select.h"
#include "compiler/import/write_block.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostWrites = 64, kMostPlaces = 4096;

int64_t feature_size(const View &x, size_t axis) {
  for (const Atom &atom : x.axes[axis]) {
    if (!atom.is_feature())
      throw Refusal("it takes places of the time or batch axis of " + view_text(x) + "; accepted: feature axes");
  }
  return axis_size(x.axes[axis]);
}

// Below 0: counted from the end.
View from_front(Builder &b, const View &place, int64_t count, const std::string &name) {
  View behind = b.binary(Binary::kLess, place, integer(b, 0), name);
  behind.mask = true;
  behind.whole = false;
  View at = chosen(b, behind, b.binary(Binary::kAdd, place, integer(b, static_cast<double>(count)), name), place, name);
  at.bounds = {0, static_cast<double>(count - 1)};  // of those that name a place
  return at;
}

View zero_of(Builder &b, const View &like) {
  return b.const_view(Tensor(like.whole ? Elem::kInt : Elem::kFloat, {}));
}

View run_time_index(const OpCall &call, size_t i) {
  View index = call.number_view(i);
  if (!index.whole) throw Refusal("its indices are floats");
  return index;
}

// data [before, n, behind] at index [...] -> [before, ..., behind]
View taken(Builder &b, const View &data, size_t axis, const View &given, const std::string &name) {
  const int64_t count = feature_size(data, axis);
  if (count > kMostPlaces && !b.discovering)
    throw Refusal("its indices are computed at run time, into an axis of " + std::to_string(count) +
                  "; accepted: up to 4096, or an integer input of every step with a constant table");
  View index = from_front(b, given, count, name), x = data;
  const size_t many = index.axes.size(), behind = data.axes.size() - axis - 1;
  x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(axis), many, Axis{});
  index.axes.insert(index.axes.end(), behind + 1, Axis{});
  const View at = is_at(b, index, many, count, name);
  View only = chosen(b, at, x, zero_of(b, data), name);
  std::vector<bool> over(only.axes.size(), false);
  over[axis + many] = true;
  View out = b.reduced(only, over, Reduce::kSum, false, name);
  out.whole = data.whole;
  out.bounds = data.bounds;
  return out;
}

// The first `depth` axes as one, and the tuples [..., depth] as places along it.
View flattened(const View &data, size_t depth) {
  Shape shape = {1};
  for (size_t i = 0; i < data.axes.size(); ++i) {
    if (i < depth)
      shape[0] = times(shape[0], feature_size(data, i));
    else
      shape.push_back(axis_size(data.axes[i]));
  }
  return reshape_view(data, shape);
}

View flat_places(OpCall &call, const View &data, const View &tuples, size_t depth) {
  Builder &b = call.b;
  const size_t last = tuples.axes.size() - 1;
  View places;
  for (size_t i = 0; i < depth; ++i) {
    View each = cut(call, tuples, {last, static_cast<int64_t>(i), 1, 1});
    each.axes.pop_back();
    each = from_front(b, each, feature_size(data, i), call.name);
    places = i == 0 ? each
                    : b.binary(Binary::kAdd,
                               b.binary(Binary::kMul, places, integer(b, static_cast<double>(axis_size(data.axes[i]))), call.name),
                               each, call.name);
  }
  places.whole = true;
  return places;
}

size_t depth_of(const View &data, const View &tuples) {
  const int64_t depth = tuples.axes.empty() ? 0 : axis_size(tuples.axes.back());
  if (depth < 1 || depth > static_cast<int64_t>(data.axes.size()))
    throw Refusal("its indices " + view_text(tuples) + " do not fit " + view_text(data));
  return static_cast<size_t>(depth);
}

void gather_nd(OpCall &call) {
  if (call.attributes.integer("batch_dims", 0) != 0) throw Refusal("attribute 'batch_dims' is not 0; accepted: 0");
  const View data = call.number_view(0), tuples = run_time_index(call, 1);
  const size_t depth = depth_of(data, tuples);
  call.give(0, taken(call.b, flattened(data, depth), 0, flat_places(call, data, tuples, depth), call.name));
}

enum class Write { kPut, kAdd };

Write write_of(const OpCall &call) {
  const std::string reduction = call.attributes.text("reduction", "none");
  if (reduction != "none" && reduction != "add")
    throw Refusal("attribute 'reduction' is " + quote(reduction) + "; accepted: none, add");
  return reduction == "add" ? Write::kAdd : Write::kPut;
}

View written(Builder &b, const View &data, const View &at, const View &update, Write how, const std::string &name) {
  if (how == Write::kPut) return chosen(b, at, update, data, name);
  View sum = b.binary(Binary::kAdd, data, chosen(b, at, update, zero_of(b, data), name), name);
  sum.whole = data.whole;
  return sum;
}

// data [n, ...] with updates [writes, ...] put at places [writes].
void scatter_nd(OpCall &call) {
  if (write_block(call)) return;
  Builder &b = call.b;
  const View given = call.number_view(0), tuples = run_time_index(call, 1), updates = call.number_view(2);
  const size_t depth = depth_of(given, tuples), many = tuples.axes.size() - 1;
  int64_t writes = 1;
  for (size_t i = 0; i < many; ++i) writes = times(writes, feature_size(tuples, i));
  if (writes > kMostWrites) throw Refusal("it writes " + std::to_string(writes) + " places; accepted: up to 64");
  View data = flattened(given, depth);
  const int64_t count = axis_size(data.axes[0]);
  Shape rows = {writes};
  for (size_t i = many; i < updates.axes.size(); ++i) rows.push_back(axis_size(updates.axes[i]));
  const View from = reshape_view(updates, rows), places = reshape_view(flat_places(call, given, tuples, depth), {writes});
  const Write how = write_of(call);
  for (int64_t i = 0; i < writes; ++i) {
    View place = cut(call, places, {0, i, 1, 1});
    place.axes.insert(place.axes.end(), data.axes.size() - 1, Axis{});
    data = written(b, data, is_at(b, place, 0, count, call.name), cut(call, from, {0, i, 1, 1}), how, call.name);
  }
  call.give(0, reshape_view(b.dense(data, call.name), view_shape(given)));
}

void scatter_elements(OpCall &call) {
  Builder &b = call.b;
  View data = call.number_view(0);
  const View places = run_time_index(call, 1), updates = call.number_view(2);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), data.axes.size());
  if (places.axes.size() != data.axes.size() || updates.axes.size() != data.axes.size())
    throw Refusal("its indices " + view_text(places) + " do not fit " + view_text(data));
  for (size_t i = 0; i < data.axes.size(); ++i) {
    if (i != axis && axis_size(places.axes[i]) != axis_size(data.axes[i]))
      throw Refusal("its indices " + view_text(places) + " are for a part of " + view_text(data) + "; accepted: all but axis " +
                    std::to_string(axis));
  }
  const int64_t count = feature_size(data, axis), writes = feature_size(places, axis);
  if (writes > kMostWrites) throw Refusal("it writes " + std::to_string(writes) + " places; accepted: up to 64");
  const Write how = write_of(call);
  for (int64_t i = 0; i < writes; ++i) {
    const View place = from_front(b, cut(call, places, {axis, i, 1, 1}), count, call.name);
    data = written(b, data, is_at(b, place, axis, count, call.name), cut(call, updates, {axis, i, 1, 1}), how, call.name);
  }
  call.give(0, data);
}

constexpr const char *kWrites = "feature axes; up to 64 indices computed at run time; reduction none or add";

}  // namespace

bool gather_at_run_time(OpCall &call) {
  const Bound &index = call.input(1);
  if (index.kind != Bound::Kind::kView || !index.view.whole) return false;
  const View data = call.number_view(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), data.axes.size());
  call.give(0, taken(call.b, data, axis, run_time_index(call, 1), call.name));
  return true;
}

const std::vector<ImportRow> kImportIndex = {
    {"GatherND", gather_nd, "feature axes; indices computed at run time; batch_dims 0; or the last valid step of each row", 11},
    {"ScatterND", scatter_nd,
     "feature axes: a block at constant indices in all steps and rows, or up to 64 indices computed at run time; reduction none or "
     "add",
     11},
    {"ScatterElements", scatter_elements, kWrites, 11},
};

}  // namespace rnnp::compiler
