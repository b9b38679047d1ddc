// ops_place.cpp -- places found at run time: ArgMax, ArgMin and TopK, put together from comparisons and reductions. A place is a
// integer. Contract: builder.h; select.h for what they share with ops_index.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <numeric>

#include "compiler/import/concat_slices.h"
#include "compiler/import/select.h"

namespace rnnp::compiler {

View integer(Builder &b, double value) {
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

// The first place where the mask is 1, or the last; where it is nowhere 1, beyond the end or -1.
View place_of(Builder &b, const View &mask, size_t axis, int64_t count, bool last, bool keep, const std::string &name) {
  const View places = counted(b, count, mask.axes.size() - axis - 1);
  const View marked = chosen(b, mask, places, integer(b, last ? -1 : static_cast<double>(count)), name);
  View place = b.reduced(marked, only(marked, axis), last ? Reduce::kMax : Reduce::kMin, keep, name);
  place.whole = true;
  return place;
}

// What is a number, or what is NaN.
View compared_with_itself(OpCall &call, const View &x, Binary op) {
  return as_mask(call.b.binary(op, x, x, call.name));
}

// The best is NaN where the row has one, as NumPy has it: then NaN is what is looked for.
void arg(OpCall &call, Reduce op) {
  const View x = call.number_view(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.axes.size());
  const int64_t count = places_of(x, axis, call.b);
  const bool last = call.attributes.integer("select_last_index", 0) != 0, keep = call.attributes.integer("keepdims", 1) != 0;
  const View best = call.b.reduced(x, only(x, axis), op, true, call.name);
  View at = as_mask(call.b.binary(Binary::kEqual, x, best, call.name));
  at = as_mask(call.b.binary(Binary::kMax, at, compared_with_itself(call, x, Binary::kNotEqual), call.name));
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

// The best of what is not taken yet; NaN counts as the largest number, as NumPy and onnxruntime sort it.
class Taking {
 public:
  Taking(OpCall *call, View x, size_t axis, int64_t count, bool largest)
      : call_(*call), b_(call->b), x_(std::move(x)), axis_(axis), count_(count), largest_(largest) {
    Tensor end(x_.whole ? Elem::kInt : Elem::kFloat, {});
    end.data[0] = largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    worst_ = b_.const_view(end);
    own_ = compared_with_itself(call_, x_, largest ? Binary::kNotEqual : Binary::kEqual);
  }

  // With `more`, the place is then taken.
  void next(bool more, View *value, View *place) {
    largest_ ? next_largest(value, place) : next_smallest(value, place);
    value->whole = x_.whole;
    place->whole = true;
    if (!more) return;
    const View taken = is_at(b_, *place, axis_, count_, call_.name);
    free_ = only_free(as_mask(b_.unary(taken, {static_cast<uint32_t>(Act::kAffine), -1.0f, 1.0f}, call_.name)));
    any_taken_ = true;
  }

 private:
  View only_free(const View &mask) { return any_taken_ ? as_mask(b_.binary(Binary::kMul, mask, free_, call_.name)) : mask; }
  View place(const View &mask) { return place_of(b_, mask, axis_, count_, false, true, call_.name); }

  void next_largest(View *value, View *where) {
    const View left = any_taken_ ? chosen(b_, free_, x_, worst_, call_.name) : x_;
    *value = b_.reduced(left, only(left, axis_), Reduce::kMax, true, call_.name);
    const View same = as_mask(b_.binary(Binary::kEqual, left, *value, call_.name));
    *where = place(only_free(as_mask(b_.binary(Binary::kMax, same, own_, call_.name))));
  }

  // Numbers first; where none is left, the first NaN.
  void next_smallest(View *value, View *where) {
    const View numbers = only_free(own_), left = chosen(b_, numbers, x_, worst_, call_.name);
    View best = b_.reduced(left, only(left, axis_), Reduce::kMin, true, call_.name);
    const View same = as_mask(b_.binary(Binary::kEqual, left, best, call_.name));
    View at = place(as_mask(b_.binary(Binary::kMul, same, numbers, call_.name)));
    const View none = as_mask(b_.binary(Binary::kEqual, at, integer(b_, static_cast<double>(count_)), call_.name));
    Tensor nan(x_.whole ? Elem::kInt : Elem::kFloat, {});
    nan.data[0] = std::numeric_limits<double>::quiet_NaN();
    best.whole = x_.whole;
    *value = chosen(b_, none, b_.const_view(nan), best, call_.name);
    *where = chosen(b_, none, any_taken_ ? place(free_) : integer(b_, 0), at, call_.name);
  }

  OpCall &call_;
  Builder &b_;
  const View x_;
  const size_t axis_;
  const int64_t count_;
  const bool largest_;
  View worst_, own_, free_;  // own_: NaN where the largest are wanted, else numbers
  bool any_taken_ = false;
};

void top_k(OpCall &call) {
  constexpr int64_t kMostTaken = 64;
  const View x = call.number_view(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", -1), x.axes.size());
  const int64_t count = places_of(x, axis, call.b), k = wanted_places(call);
  if (k < 1 || k > count || k > kMostTaken)
    throw Refusal("it takes " + std::to_string(k) + " places of " + std::to_string(count) + "; accepted: 1 to that, and up to 64");
  Taking taking(&call, x, axis, count, call.attributes.integer("largest", 1) != 0);
  std::vector<View> values(static_cast<size_t>(k)), places(values.size());
  for (size_t i = 0; i < values.size(); ++i) taking.next(i + 1 < values.size(), &values[i], &places[i]);
  View all = joined(call, values, axis), where = joined(call, places, axis);
  all.whole = x.whole;
  where.whole = true;
  call.give(0, all);
  call.give(1, where);
}

// What is not among the places, from -depth to depth - 1, is off everywhere.
void one_hot(OpCall &call) {
  Builder &b = call.b;
  const Tensor &depth = call.constant(1, "depth"), &values = call.constant(2, "values");
  if (depth.size() != 1 || depth.is_dynamic() || values.size() != 2)
    throw Refusal("depth or values are no constants of their size");
  const double count = depth.data[0];
  if (!(count >= 1 && count <= static_cast<double>(kLongestAxis))) throw Refusal("depth is not 1 to 1048576");
  View index = call.number_view(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", -1), index.axes.size() + 1);
  if (!index.whole) index = b.unary(index, {static_cast<uint32_t>(Act::kFloor), 0, 0}, call.name);
  index.whole = true;
  const int64_t places = static_cast<int64_t>(count);
  const View below = as_mask(b.binary(Binary::kLess, index, integer(b, 0), call.name));
  index = chosen(b, below, b.binary(Binary::kAdd, index, integer(b, count), call.name), index, call.name);
  index.axes.insert(index.axes.begin() + static_cast<std::ptrdiff_t>(axis), Axis{});
  View out = is_at(b, index, axis, places, call.name);
  const double off = values.data[0], on = values.data[1];
  if (off != 0 || on != 1)
    out = b.unary(out, {static_cast<uint32_t>(Act::kAffine), static_cast<float>(on - off), static_cast<float>(off)}, call.name);
  out.mask = values.elem == Elem::kBool;
  out.whole = values.elem == Elem::kInt;
  out.bounds = hull({off, off}, {on, on});
  call.give(0, out);
}

constexpr const char *kPlaces = "feature axes; the result is an index, of the first NaN where there is one, as in NumPy";

}  // namespace

const std::vector<ImportRow> kImportPlace = {
    {"ArgMax", arg_max, kPlaces},
    {"ArgMin", arg_min, kPlaces},
    {"TopK", top_k, "feature axes; constant K up to 64; NaN counts as the largest number, as in NumPy"},
    {"OneHot", one_hot, "constant depth and values; axis a new feature axis", 9},
};

}  // namespace rnnp::compiler
