// ops_shape.cpp -- operators that move data: most become views and cost nothing. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/import/concat_slices.h"
#include "compiler/import/integer_bounds.h"
#include "compiler/import/steps.h"
#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {
namespace {

void alias(OpCall &call) {
  call.give(0, call.any_view(0));
  if (call.wants(1)) throw Refusal("its output 1 (the mask) is not supported");
}

void dropout(OpCall &call) {
  if (call.is_const(2) && call.constant(2, "training_mode").size() == 1 && call.constant(2, "training_mode").data[0] != 0) {
    throw Refusal("training_mode is set; accepted: inference");
  }
  alias(call);
}

bool is_real_type(int64_t type) {
  return type == kOnnxFloat || type == kOnnxFloat16 || type == kOnnxDouble || type == kOnnxBfloat16;
}

// Towards zero: what a cast to an integer type keeps.
View truncated(OpCall &call, const View &x) {
  const auto apply = [&](const View &of, Act act) { return call.b.unary(of, {static_cast<uint32_t>(act), 0, 0}, call.name); };
  return call.b.binary(Binary::kMul, apply(x, Act::kSign), apply(apply(x, Act::kAbs), Act::kFloor), call.name);
}

// Numbers of every type are f32 here, and masks are 0 and 1 already; a number is true when it is not 0.
void cast_to(OpCall &call, int64_t to) {
  View x = call.any_view(0);
  const bool to_real = is_real_type(to), to_mask = to == kOnnxBool;
  if (to == kOnnxString || to == 0) throw Refusal("attribute 'to' asks for strings; accepted: numbers and bool");
  if (call.b.graph.values[x.value].dtype != DType::kF32) {
    // Indices stay what they are, whatever their width; computed with, they are numbers.
    if (!to_real && !to_mask) return call.give(0, x);
    x = call.number_view(0);
  }
  if (x.whole && !to_real && !to_mask) check_narrowing(x.bounds, static_cast<int>(to));
  View out = x;
  if (to_mask && !x.mask) {
    Tensor zero(x.whole ? Elem::kInt : Elem::kFloat, {});
    out = call.b.binary(Binary::kNotEqual, x, call.b.const_view(zero), call.name);
  } else if (!to_real && !to_mask && !x.mask && !x.whole) {
    out = truncated(call, x);
  }
  out.mask = to_mask;
  out.whole = !to_real && !to_mask;
  if (!x.whole) out.bounds = x.mask ? IntegerBounds{0, 1} : bounds_of_type(to);
  call.give(0, out);
}

void cast(OpCall &call) {
  cast_to(call, call.attributes.integer("to", 0));
}

void cast_like(OpCall &call) {
  const View like = call.any_view(1);
  if (like.mask || like.whole || call.b.graph.values[like.value].dtype != DType::kF32)
    throw Refusal("its second operand is of integer type or bool; accepted: float");
  cast_to(call, kOnnxFloat);
}

std::vector<Dim> shape_of_view(const Builder &b, const View &view) {
  std::vector<Dim> sizes;
  for (const Axis &axis : view.axes) sizes.push_back(b.dim_of(axis));
  return sizes;
}

void shape(OpCall &call) {
  const std::vector<Dim> whole = shape_of_view(call.b, call.any_view(0));
  const int64_t rank = static_cast<int64_t>(whole.size());
  const auto wrap = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t first = wrap(call.attributes.integer("start", 0)),
                last = std::max(first, wrap(call.attributes.integer("end", rank)));
  call.give(0, dim_tensor(std::vector<Dim>(whole.begin() + first, whole.begin() + last)));
}

void size(OpCall &call) {
  Dim all = 1;
  for (const Dim &dim : shape_of_view(call.b, call.any_view(0))) all = all * dim;
  Tensor out = dim_tensor({all});
  out.shape = {};
  call.give(0, std::move(out));
}

// tf2onnx makes a Transpose of one step of one row a Reshape that does nothing; its name still says what it was.
bool was_transpose(const OpCall &call, const View &x, const Shape &target) {
  const std::string &made = call.node.output(0);
  return call.b.discovering && made.compare(made.rfind('/') + 1, 9, "transpose") == 0 && x.axes.size() > 2 &&
         target == view_shape(x) && target[0] == 1 && target[1] == 1;
}

// Numbers that stand in for open sizes decided what goes where: the sizes have to be those that the file wants for every run.
View with_sizes(const OpCall &call, View out, const std::vector<Dim> &wanted) {
  for (size_t i = 0; i < wanted.size() && !call.b.discovering; ++i) {
    const Dim got = call.b.dim_of(out.axes[i]);
    const bool open = !wanted[i].is_number() || (!got.is_number() && wanted[i].number() > 0);
    if (open && got != wanted[i])
      throw Refusal("axis " + std::to_string(i) + " of its result would have " + got.text() + " elements, and the file wants " +
                    wanted[i].text());
  }
  return out;
}

void reshape(OpCall &call) {
  View x = call.any_view(0);
  const Tensor &given = call.sizes(1, "shape");
  const std::vector<Dim> sizes = to_dims(given);
  const std::vector<int64_t> wanted = to_ints(given);
  const Shape target = reshape_target(view_shape(x), wanted, call.attributes.integer("allowzero", 0) != 0);
  if (was_transpose(call, x, target)) std::swap(x.axes[0], x.axes[1]);
  if (!refusal_of([&] { call.give(0, with_sizes(call, reshape_view(x, target), sizes)); })) return;
  // Elements that do not lie in order cannot be regrouped in place; a copy in order can.
  View whole = call.b.dense(x, call.name);
  for (Axis &axis : whole.axes) {
    for (Atom &atom : axis) atom.origin = -1;
  }
  call.give(0, with_sizes(call, reshape_view(whole, target), sizes));
}

void flatten(OpCall &call) {
  const View x = call.any_view(0);
  const int64_t rank = static_cast<int64_t>(x.axes.size()), axis = call.attributes.integer("axis", 1);
  const size_t at = axis == rank ? x.axes.size() : normal_axis(axis, x.axes.size());
  View out = x;
  out.axes.assign(2, Axis{});
  for (size_t i = 0; i < x.axes.size(); ++i) {
    Axis &to = out.axes[i < at ? 0 : 1];
    to.insert(to.end(), x.axes[i].begin(), x.axes[i].end());
  }
  call.give(0, out);
}

void squeeze(OpCall &call) {
  const View x = call.any_view(0);
  std::vector<int64_t> axes;
  std::vector<bool> gone(x.axes.size(), false);
  if (call.has(1)) call.constant(1, "axes");
  if (squeeze_axes(call.attributes, call.constants(), &axes)) {
    for (int64_t axis : axes) gone[normal_axis(axis, x.axes.size())] = true;
  } else {
    for (size_t i = 0; i < x.axes.size(); ++i) gone[i] = axis_size(x.axes[i]) == 1;
  }
  View out = x;
  out.axes.clear();
  for (size_t i = 0; i < x.axes.size(); ++i) {
    if (gone[i] && axis_size(x.axes[i]) != 1)
      throw Refusal("axis " + std::to_string(i) + " of " + view_text(x) + " is not of size 1");
    if (!gone[i]) out.axes.push_back(x.axes[i]);
  }
  call.give(0, out);
}

void unsqueeze(OpCall &call) {
  const View x = call.any_view(0);
  std::vector<int64_t> axes;
  if (call.has(1)) call.constant(1, "axes");
  if (!squeeze_axes(call.attributes, call.constants(), &axes)) throw Refusal("it has no axes");
  std::vector<bool> fresh(x.axes.size() + axes.size(), false);
  for (int64_t axis : axes) {
    const size_t at = normal_axis(axis, fresh.size());
    if (fresh[at]) throw Refusal("an axis is given twice");
    fresh[at] = true;
  }
  View out = x;
  out.axes.clear();
  size_t next = 0;
  for (const bool is_fresh : fresh) out.axes.push_back(is_fresh ? Axis{} : x.axes[next++]);
  call.give(0, out);
}

void transpose(OpCall &call) {
  const View x = call.any_view(0);
  std::vector<int64_t> perm = call.attributes.integers("perm");
  if (perm.empty()) {
    for (size_t i = x.axes.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  }
  std::vector<bool> seen(x.axes.size(), false);
  if (perm.size() != x.axes.size()) throw Refusal("attribute 'perm' does not fit rank " + std::to_string(x.axes.size()));
  View out = x;
  for (size_t i = 0; i < perm.size(); ++i) {
    const size_t from = normal_axis(perm[i], x.axes.size());
    if (seen[from]) throw Refusal("attribute 'perm' names an axis twice");
    seen[from] = true;
    out.axes[i] = x.axes[from];
  }
  call.give(0, out);
}

// An open bound is the axis's own size, give or take a number: where it lies is the same for every run.
void check_bounds(const OpCall &call, const SliceSpec &spec, const View &x) {
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (call.opset < 10 || call.b.discovering || !call.sizes(i, "starts or ends").is_dynamic()) continue;
    const Tensor &bounds = call.sizes(i, "starts or ends");
    for (size_t k = 0; k < bounds.data.size(); ++k) {
      const Dim size = call.b.dim_of(x.axes[normal_axis(spec.axes[k], x.axes.size())]);
      if (bounds.dim(k).is_number() || (bounds.dim(k) - size).is_number()) continue;
      throw Refusal("it cuts an axis of " + size.text() + " elements of " + view_text(x) + " at " + bounds.dim(k).text() +
                    "; accepted: a constant, counted from either end");
    }
  }
}

void slice(OpCall &call) {
  View x = call.any_view(0);
  for (size_t i = 1; i < call.input_count(); ++i) {
    if (call.has(i)) i < 3 ? call.sizes(i, "starts or ends") : call.constant(i, "axes or steps");
  }
  const SliceSpec spec = slice_spec(call.attributes, call.opset, call.constants_and_sizes(), x.axes.size());
  check_bounds(call, spec, x);
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    const size_t axis = normal_axis(spec.axes[i], x.axes.size());
    x = cut(call, x, slice_range(spec, i, axis_size(x.axes[axis]), x.axes.size()));
  }
  call.give(0, x);
}

void split(OpCall &call) {
  const View x = call.any_view(0);
  if (call.has(1)) call.constant(1, "split");
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.axes.size());
  int64_t first = 0, i = 0;
  for (int64_t size : split_sizes(call.attributes, call.constants(), axis_size(x.axes[axis]), call.output_count())) {
    const size_t at = static_cast<size_t>(i++);
    if (size > 0)
      call.give(at, cut(call, x, {axis, first, size, 1}));
    else
      call.b.bound.erase(call.node.output(static_cast<int>(at)));  // tf.keras makes such pieces, and nothing reads them
    first = plus(first, size);
  }
}

void concat(OpCall &call) {
  std::vector<View> parts;
  for (size_t i = 0; i < call.input_count(); ++i) parts.push_back(call.any_view(i));
  if (parts.empty()) throw Refusal("it has no inputs");
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), parts[0].axes.size());
  if (const std::optional<View> steps = joined_steps(call, parts, axis)) return call.give(0, *steps);
  for (View &part : parts) part = settled(call.b, part, call.name);
  call.give(0, parts.size() == 1 ? parts[0] : joined(call, parts, axis));
}

std::vector<Axis> target_axes(const Builder &b, const Tensor &shape) {
  std::vector<Axis> axes;
  for (const Dim &size : to_dims(shape)) axes.push_back(b.symbol_axis(size));
  return axes;
}

// The number of steps, once for each row: lengths that all steps are.
void repeat_step_count(OpCall &call) {
  Builder &b = call.b;
  Tensor count = call.sizes(0, "input");
  const bool steps = count.size() == 1 && (b.discovering || (b.time_dynamic && count.dim(0) == Dim::symbol("steps", b.time_size)));
  if (!steps) b.const_view(count);  // refuses
  count.dims.clear();
  const View view = b.const_view(count);
  b.step_counts.insert(view.value);
  call.give(0, expand_view(view, target_axes(b, call.sizes(1, "shape"))));
}

// Axes that x has already stay as they are; those of size 1 become what the shape says.
void expand(OpCall &call) {
  if (call.is_const(0) && call.sizes(0, "input").is_dynamic()) return repeat_step_count(call);
  View x = call.view(0);
  std::vector<Dim> sizes = to_dims(call.sizes(1, "shape"));
  if (sizes.size() < x.axes.size()) sizes.insert(sizes.begin(), x.axes.size() - sizes.size(), Dim(1));
  const size_t lead = sizes.size() - x.axes.size();
  std::vector<Axis> target;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Axis from = i < lead ? Axis{} : x.axes[i - lead];
    const Dim size = call.b.dim_of(from);
    const bool stays = axis_size(from) != 1 && (sizes[i] == Dim(1) || sizes[i] == size);
    if (!stays && axis_size(from) != 1 && (!call.b.discovering || sizes[i].stand_in() != size.stand_in()))
      throw Refusal("its axis of " + size.text() + " elements does not broadcast to " + sizes[i].text());
    target.push_back(axis_size(from) != 1 ? from : call.b.symbol_axis(sizes[i]));
  }
  call.give(0, expand_view(x, target));
}

void constant_of_shape(OpCall &call) {
  Tensor value(Elem::kFloat, {1});
  if (const auto *given = call.attributes.find("value")) value = *given->t().tensor();
  if (value.size() != 1) throw Refusal("attribute 'value' must have one element");
  value.shape = {};
  call.give(0, expand_view(call.b.const_view(value), target_axes(call.b, call.sizes(0, "shape"))));
}

// The importer itself reads the branch of a condition that is known.
void condition_at_run_time(OpCall &call) {
  std::string fixes;
  for (const std::string &name : call.b.inputs_behind(call.view(0).value))
    fixes += (fixes.empty() ? "" : " ") + ("--set " + name + "=VALUE");
  throw Refusal("its condition " + quote(call.node.input(0)) +
                " is computed at run time; accepted: one that follows from constants and " +
                "fixed sizes (--dim and --shape fix sizes, " + (fixes.empty() ? "--set inputs" : fixes) +
                "), or branches that both are read and whose results have the same shapes");
}

}  // namespace

const std::vector<ImportRow> kImportShape = {
    {"Identity", alias, "removed"},
    {"Dropout", dropout, "removed; inference only, without the mask"},
    {"Cast", cast, "numbers and bool; every type is float32 at run time"},
    {"CastLike", cast_like, "to float", 15},
    {"Constant", alias, "folded"},
    {"Shape", shape, "folds; sizes of time and batch may only shape tensors"},
    {"Size", size, "as Shape"},
    {"Reshape", reshape, "constant or computed shape; time and batch may be merged and separated, not divided"},
    {"Flatten", flatten, "as Reshape"},
    {"Squeeze", squeeze, "all"},
    {"Unsqueeze", unsqueeze, "all"},
    {"Transpose", transpose, "all"},
    {"Slice", slice,
     "feature axes; on time one step counted from either end, all but some at the ends where the number of steps allows, or all "
     "reversed"},
    {"Split", split, "feature axes"},
    {"Concat", concat,
     "feature axes; on time rows before or behind the steps, where Slice removes as many, or zeros before a convolution"},
    {"Expand", expand, "all", 8},
    {"ConstantOfShape", constant_of_shape, "all", 9},
    {"If", condition_at_run_time, "a known condition inlines its branch; else both run, with results of one shape"},
};

}  // namespace rnnp::compiler
