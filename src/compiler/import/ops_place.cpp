// ops_place.cpp -- places found at run time: ArgMax, ArgMin and TopK, put together from comparisons and reductions. A place is a
// whole number. Contract: builder.h; select.h for what they share with ops_index.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <limits>
#include <numeric>

#include "compiler/import/pieces.h"
#include "compiler/import/select.h"

namespace rnnp::compiler {

View whole_number(Builder &b, double value) {
  Tensor number(Elem::kInt, {});
  number.data[0] = value;
  return b.const_view(number);
}

View counted(Builder &b, int64_t count, size_t behind) {
  Shape shape(behind + 1, 1);
  shape[0] = count;
  Tensor places(Elem::kInt, shape);
  std::iota(places.data.begin(), places.data.end(), 0.0);
  return b.const_view(places);
}

View is_at(Builder &b, const View &place, size_t axis, int64_t count, const std::string &name) {
  View at = b.binary(Binary::kEqual, place, counted(b, count, place.axes.size() - axis - 1), name);
  at.mask = true;
  at.whole = false;
  return at;
}

namespace {

constexpr int64_t kLongestAxis = int64_t{1} << 20;

// The size of the axis that is looked along.
int64_t places_of(const View &x, size_t axis, const Builder &b) {
  for (const Atom &atom : x.axes[axis]) {
    const bool open = atom.origin >= 0 && b.origins->dynamic(atom.origin);
    if (!atom.is_feature() || open)
      throw Refusal("it looks along the time or batch axis of " + view_text(x) + "; accepted: feature axes");
  }
  const int64_t size = axis_size(x.axes[axis]);
  if (size > kLongestAxis) throw Refusal("it looks along an axis of " + std::to_string(size) + "; accepted: up to 1048576");
  return size;
}

std::vector<bool> only(const View &x, size_t axis) {
  std::vector<bool> over(x.axes.size(), false);
  over[axis] = true;
  return over;
}

// The first place where the mask is 1, or the last; where it is nowhere 1 (of NaN alone), beyond the end or -1.
View place_of(Builder &b, const View &mask, size_t axis, int64_t count, bool last, bool keep, const std::string &name) {
  const View places = counted(b, count, mask.axes.size() - axis - 1);
  const View marked = chosen(b, mask, places, whole_number(b, last ? -1 : static_cast<double>(count)), name);
  View place = b.reduced(marked, only(marked, axis), last ? Reduce::kMax : Reduce::kMin, keep, name);
  place.whole = true;
  return place;
}

View as_mask(View view) {
  view.mask = true;
  view.whole = false;
  return view;
}

void arg(OpCall &call, Reduce op) {
  const View x = call.number_view(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.axes.size());
  const int64_t count = places_of(x, axis, call.b);
  const bool last = call.attributes.integer("select_last_index", 0) != 0, keep = call.attributes.integer("keepdims", 1) != 0;
  const View best = call.b.reduced(x, only(x, axis), op, true, call.name);
  const View at = as_mask(call.b.binary(Binary::kEqual, x, best, call.name));
  call.give(0, place_of(call.b, at, axis, count, last, keep, call.name));
}

void arg_max(OpCall &call) {
  arg(call, Reduce::kMax);
}
void arg_min(OpCall &call) {
  arg(call, Reduce::kMin);
}

int64_t wanted_places(const OpCall &call) {
  if (call.opset < 10) return call.attributes.integer("k", 0);
  const Tensor &k = call.constant(1, "K");
  if (k.size() != 1 || k.is_dynamic()) throw Refusal("K is not one constant");
  return to_ints(k)[0];
}

// One place after the other: the best of those that are not taken, which is then taken.
void top_k(OpCall &call) {
  constexpr int64_t kMostTaken = 64;
  Builder &b = call.b;
  View x = call.number_view(0);
  const bool whole = x.whole;
  const size_t axis = normal_axis(call.attributes.integer("axis", -1), x.axes.size());
  const int64_t count = places_of(x, axis, b), k = wanted_places(call);
  if (k < 1 || k > count || k > kMostTaken)
    throw Refusal("it takes " + std::to_string(k) + " places of " + std::to_string(count) + "; accepted: 1 to that, and up to 64");
  const bool largest = call.attributes.integer("largest", 1) != 0;
  Tensor end(whole ? Elem::kInt : Elem::kFloat, {});
  end.data[0] = largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const View worst = b.const_view(end);
  std::vector<View> values, places;
  View free;  // 1 where nothing is taken yet
  for (int64_t i = 0; i < k; ++i) {
    const View left = i == 0 ? x : chosen(b, free, x, worst, call.name);
    View best = b.reduced(left, only(left, axis), largest ? Reduce::kMax : Reduce::kMin, true, call.name);
    best.whole = whole;
    View at = as_mask(b.binary(Binary::kEqual, left, best, call.name));
    if (i > 0) at = as_mask(b.binary(Binary::kMul, at, free, call.name));
    values.push_back(best);
    places.push_back(place_of(b, at, axis, count, false, true, call.name));
    if (i + 1 == k) break;
    const View taken = is_at(b, places.back(), axis, count, call.name);
    const View open = as_mask(b.unary(taken, {static_cast<uint32_t>(Act::kAffine), -1.0f, 1.0f}, call.name));
    free = i == 0 ? open : as_mask(b.binary(Binary::kMul, free, open, call.name));
  }
  View all = joined(call, values, axis), where = joined(call, places, axis);
  all.whole = whole;
  where.whole = true;
  call.give(0, all);
  call.give(1, where);
}

constexpr const char *kLimits = "feature axes; what it gives are whole numbers";

}  // namespace

const std::vector<ImportRow> kImportPlace = {
    {"ArgMax", arg_max, kLimits},
    {"ArgMin", arg_min, kLimits},
    {"TopK", top_k, "feature axes; constant K up to 64"},
};

}  // namespace rnnp::compiler
