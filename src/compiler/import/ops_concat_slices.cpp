// ops_concat_slices.cpp -- Gather with constant indices, Pad and Tile: views where the elements lie in steps, else pieces joined.
// Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/import/concat_slices.h"
#include "compiler/import/index.h"
#include "compiler/import/integer_bounds.h"
#include "compiler/import/ops_resize.h"
#include "compiler/import/steps.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kConstant = -1;  // a place that the constant fills

struct Run {
  int64_t first, count, step;
};

// The places in as few runs of equal steps as one walk finds.
std::vector<Run> runs_of(const std::vector<int64_t> &places) {
  std::vector<Run> runs;
  for (const int64_t place : places) {
    Run *run = runs.empty() ? nullptr : &runs.back();
    const bool same_kind = run && (run->first == kConstant) == (place == kConstant);
    const int64_t step = place == kConstant || !run ? 0 : place - (run->first + (run->count - 1) * run->step);
    if (same_kind && (run->count == 1 || run->step == step)) {
      run->step = step;
      ++run->count;
    } else {
      runs.push_back({place, 1, place == kConstant ? 0 : 1});
    }
  }
  return runs;
}

// `count` times the number, shaped like x but for the axis.
View constant_piece(OpCall &call, const View &x, size_t axis, int64_t count, double value) {
  View piece = x;
  Tensor number(Elem::kFloat, {});
  number.data[0] = value;
  const View scalar = call.b.const_view(number);
  piece.value = scalar.value;
  piece.first = 0;
  for (Axis &each : piece.axes) {
    for (Atom &atom : each) atom.stride = 0;
  }
  piece.axes[axis] = {Atom{Atom::Kind::kFeature, count, 0, -1}};
  return piece;
}

// The elements of the axis at the runs' places, in their order.
View taken(OpCall &call, const View &x, size_t axis, const std::vector<Run> &runs, double value = 0) {
  constexpr size_t kMostRuns = 1024;
  if (runs.size() > kMostRuns)
    throw Refusal("it takes " + std::to_string(runs.size()) + " pieces; accepted: up to " + std::to_string(kMostRuns));
  View source = x;
  if (runs.size() > 1 && axis_is_features(x.axes[axis]) && merged(x.axes[axis]).size() > 1) source = call.b.dense(x, call.name);
  std::vector<View> parts;
  for (const Run &run : runs) {
    if (run.first == kConstant) {
      parts.push_back(constant_piece(call, source, axis, run.count, value));
      continue;
    }
    const bool repeats = run.step == 0;
    parts.push_back(cut(call, source, {axis, run.first, repeats ? 1 : run.count, repeats ? 1 : run.step}));
    if (repeats) parts.back().axes[axis] = {Atom{Atom::Kind::kFeature, run.count, 0, -1}};
  }
  return parts.size() == 1 && runs[0].first != kConstant ? parts[0] : joined(call, parts, axis);
}

// The axis as several of these sizes.
void part_axis(OpCall &call, View *view, size_t axis, const Shape &sizes) {
  if (axis_is_features(view->axes[axis]) && merged(view->axes[axis]).size() > 1) *view = call.b.dense(*view, call.name);
  View alone = *view;
  alone.axes = {view->axes[axis]};
  const View parted = reshape_view(alone, sizes);
  const auto at = view->axes.erase(view->axes.begin() + static_cast<std::ptrdiff_t>(axis));
  view->axes.insert(at, parted.axes.begin(), parted.axes.end());
}

// Rows of a constant table by indices that come in at every step: an embedding.
void look_up(OpCall &call) {
  Builder &b = call.b;
  const Tensor &table = call.constant(0, "data");
  View index = call.any_view(1);
  const int64_t reversed = take_reversal(&index);
  index = settled(b, index, call.name);
  Value &value = b.graph.values[index.value];
  if (value.kind != ValueKind::kInput || value.dtype != DType::kI32 || (!b.discovering && !is_dense(index, value.elems)))
    throw Refusal("its indices are computed at run time; accepted: constants, or an integer input with a constant table");
  if (table.rank() < 1 || normal_axis(call.attributes.integer("axis", 0), table.shape.size()) != 0)
    throw Refusal("it takes run-time indices along an inner axis; accepted: axis 0");
  const auto is_time = [](const Atom &atom) { return atom.kind == Atom::Kind::kTime; };
  const bool has_time = std::any_of(index.axes.begin(), index.axes.end(),
                                    [&](const Axis &axis) { return std::any_of(axis.begin(), axis.end(), is_time); });
  if (!b.discovering && !has_time && b.origins->any(AxisRole::kTime))
    throw Refusal("its indices are the same for all steps; accepted: indices at every step");
  const int64_t rows = table.shape[0], elems = rows == 0 ? 0 : table.size() / rows;
  if (elems < 1 || rows > INT32_MAX) throw Refusal("its table has shape " + shape_text(table.shape));
  value.sequence = true;
  Io &input = *std::find_if(b.graph.inputs.begin(), b.graph.inputs.end(), [&](const Io &io) { return io.value == index.value; });
  input.limit = input.limit == 0 ? static_cast<uint32_t>(rows) : std::min(input.limit, static_cast<uint32_t>(rows));
  Gather attr{static_cast<uint32_t>(rows), static_cast<uint32_t>(elems), value.elems, {}};
  attr.table.reserve(table.data.size());
  for (double v : table.data) attr.table.push_back(static_cast<float>(v));
  View out = index;
  out.whole = table.elem == Elem::kInt;
  if (out.whole) out.bounds = bounds_of(table);
  for (size_t i = 1; i < table.shape.size(); ++i)
    out.axes.push_back(table.shape[i] == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, table.shape[i]}});
  out = densified(out);
  out.first = 0;
  out.value = b.new_row(times(attr.count, elems), true);
  b.graph.nodes.push_back({OpKind::kGather, call.name, {index.value}, {out.value}, std::move(attr)});
  put_reversal(&out, reversed);
  call.give(0, out);
}

void gather(OpCall &call) {
  if (!call.is_const(1)) return gather_at_run_time(call) ? void() : look_up(call);
  const View x = call.any_view(0);
  const Tensor &index = call.sizes(1, "indices");
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.axes.size());
  const int64_t size = axis_size(x.axes[axis]);
  for (const Dim &place : index.dims) {
    const Dim all = call.b.dim_of(x.axes[axis]);
    if (!call.b.discovering && !place.is_number() && !(place - all).is_number())
      throw Refusal("it takes element " + place.text() + " of an axis of " + all.text() + " elements of " + view_text(x) +
                    "; accepted: a constant, counted from either end");
  }
  std::vector<int64_t> places = to_ints(index);
  for (int64_t &i : places) {
    if (i < -size || i >= size) throw Refusal("index " + std::to_string(i) + " is outside an axis of " + std::to_string(size));
    i += i < 0 ? size : 0;
  }
  if (places.empty()) throw Refusal("it has no indices");
  View out = taken(call, x, axis, runs_of(places));
  if (index.rank() == 0) out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(axis));
  if (index.rank() > 1) part_axis(call, &out, axis, index.shape);
  call.give(0, out);
}

void expect_features(const View &x, size_t axis, const char *what) {
  for (const Atom &atom : x.axes[axis]) {
    if (atom.is_feature()) continue;
    throw Refusal(std::string("it ") + what + (atom.kind == Atom::Kind::kTime ? " the time" : " the batch") +
                  " axis; accepted: feature axes");
  }
}

// What stands for the places [begin, end) beyond the axis.
std::vector<Run> border(PadMode mode, int64_t begin, int64_t end, int64_t size) {
  if (begin >= end) return {};
  if (mode == PadMode::kConstant) return {{kConstant, end - begin, 0}};
  if (mode == PadMode::kEdge) return {{pad_source(mode, begin, size), end - begin, 0}};
  constexpr int64_t kMost = int64_t{1} << 16;
  if (end - begin > kMost) throw Refusal("pads adds " + std::to_string(end - begin) + " to an axis; accepted: up to 65536");
  std::vector<int64_t> places;
  for (int64_t at = begin; at < end; ++at) places.push_back(pad_source(mode, at, size));
  return runs_of(places);
}

// One axis from place `begin` to `end`, where [0, size) is what it has.
View padded(OpCall &call, const View &x, size_t axis, int64_t begin, int64_t end, const PadSpec &spec) {
  expect_features(x, axis, "pads");
  const int64_t size = axis_size(x.axes[axis]);
  if (end <= begin) throw Refusal("pads cuts off all of axis " + std::to_string(axis));
  if (!call.b.discovering && end - begin > int64_t{kMaxRowElems})
    throw Refusal("pads makes axis " + std::to_string(axis) + " too large");
  std::vector<Run> runs = border(spec.mode, begin, std::min<int64_t>(end, 0), size);
  const int64_t first = std::max<int64_t>(begin, 0), past = std::min(end, size);
  if (first < past) runs.push_back({first, past - first, 1});
  const std::vector<Run> after = border(spec.mode, std::max(begin, size), end, size);
  runs.insert(runs.end(), after.begin(), after.end());
  return taken(call, x, axis, runs, spec.value);
}

// Between QuantizeLinear and DequantizeLinear: what an integer stands for there.
double number_of_integer(const View &x, double integer) {
  if (x.channel_grid == nullptr) return static_cast<double>(static_cast<float>((integer - x.grid_zero) * x.grid_scale));
  const std::vector<double> &zeros = x.channel_grid->zero;
  if (std::any_of(zeros.begin(), zeros.end(), [&](double zero) { return zero != integer; }))
    throw Refusal("it pads integers of several scales with another number than their zero point; accepted: the zero point");
  return 0;
}

View with_grid_of(const View &from, View x) {
  x.quantized = true;
  x.step = from.step;
  x.grid_scale = from.grid_scale;
  x.grid_zero = from.grid_zero;
  x.channel_grid = from.channel_grid;
  return x;
}

// Zeros before and behind the time axis are counted there; see steps.h. Feature axes first: they want the run's steps.
void pad(OpCall &call) {
  for (size_t i = 1; i < call.input_count(); ++i) {
    if (call.has(i)) call.constant(i, i == 1 ? "pads" : i == 2 ? "constant_value" : "axes");
  }
  const View given = call.any_view(0);
  View x = given;
  PadSpec spec = pad_spec(call.attributes, call.opset, call.constants(), x.axes.size());
  if (x.quantized && spec.mode == PadMode::kConstant) spec.value = number_of_integer(x, spec.value);
  const bool zeros = spec.mode == PadMode::kConstant && spec.value == 0;
  std::vector<size_t> times, features;
  for (size_t axis = 0; axis < x.axes.size(); ++axis) {
    if (spec.before[axis] == 0 && spec.after[axis] == 0) continue;
    (zeros && may_be_steps(call.b, x.axes[axis]) ? times : features).push_back(axis);
  }
  if (times.empty() || !features.empty()) x = call.real_view(0);
  for (size_t axis : features) x = padded(call, x, axis, -spec.before[axis], axis_size(x.axes[axis]) + spec.after[axis], spec);
  for (size_t axis : times) x = pad_steps(call, x, axis, spec.before[axis], spec.after[axis]);
  if (given.quantized) x = with_grid_of(given, std::move(x));
  call.give(0, x);
}

// A repeat is a slow atom of stride 0.
void tile(OpCall &call) {
  View x = call.view(0);
  const std::vector<Dim> repeats = to_dims(call.sizes(1, "repeats"));
  if (repeats.size() != x.axes.size())
    throw Refusal("repeats has " + std::to_string(repeats.size()) + " numbers; accepted: one for each axis");
  for (size_t axis = 0; axis < x.axes.size(); ++axis) {
    if (repeats[axis] == Dim(1)) continue;
    if (axis_size(x.axes[axis]) > 1) expect_features(x, axis, "repeats");
    const Axis times = call.b.symbol_axis(repeats[axis]);
    x.axes[axis].insert(x.axes[axis].begin(), times.begin(), times.end());
  }
  call.give(0, x);
}

}  // namespace

const std::vector<ImportRow> kImportPieces = {
    {"Gather", gather,
     "constant indices (on time one step, counted from either end); rows of a constant table by an integer input; feature axes by "
     "indices computed at run time"},
    {"Pad", pad,
     "feature axes; zeros on time before a convolution (what keeps 0 may come between) or where Slice removes as many; constant "
     "pads"},
    {"Tile", tile, "feature axes; constant repeats, or the number of steps or batch rows"},
    {"Resize", import_resize,
     "feature axes; nearest or linear; half_pixel, pytorch_half_pixel, align_corners or asymmetric; constant scales or sizes", 10},
};

}  // namespace rnnp::compiler
