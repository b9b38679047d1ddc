// ops_quantize.cpp -- QuantizeLinear and DequantizeLinear of what is computed at run time: a Clip to what the integers in between
// can hold. They are not rounded: the view's numbers stay those of the float network. The step is what an int8 layer quantizes its
// x by. Contract: builder.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/eval/quantized_range.h"
#include "compiler/import/builder.h"
#include "compiler/import/steps.h"
#include "compiler/ir/value_range.h"

namespace rnnp::compiler {
namespace {

// One scale and zero point, or one for each index of an axis.
struct Grid {
  std::vector<double> scale, zero;
  size_t axis = 0;

  bool is_single() const { return scale.size() == 1; }
};

Grid grid_of(const OpCall &call, const View &x) {
  const Tensor &scale = call.constant(1, "the scale");
  const Tensor *zero = call.has(2) ? &call.constant(2, "the zero point") : nullptr;
  Grid grid{scale.data.copied(), zero == nullptr ? std::vector<double>(scale.data.size(), 0.0) : zero->data.copied()};
  if (zero != nullptr && zero->size() != scale.size())
    throw Refusal("its zero point has shape " + shape_text(zero->shape) + ", its scale " + shape_text(scale.shape));
  for (const double step : grid.scale) {
    if (!std::isfinite(step) || step <= 0) throw Refusal("its scale is not a finite number above 0");
  }
  if (grid.is_single()) return grid;
  grid.axis = normal_axis(call.attributes.integer("axis", 1), x.axes.size());
  for (const Atom &atom : x.axes[grid.axis]) {
    if (atom.is_off_steps()) throw Refusal("it has a scale for each step of " + view_text(x) + ", which Pad or Slice changed");
  }
  if (call.attributes.integer("block_size", 0) != 0 || scale.rank() != 1 || scale.size() != axis_size(x.axes[grid.axis]))
    throw Refusal("its scale has shape " + shape_text(scale.shape) +
                  "; accepted: one number, or one for each index of an axis, for what is computed at run time");
  return grid;
}

// What the integers of a type are times a scale, rounded as f32 arithmetic does it.
double bound(double q, double zero, double scale) {
  return static_cast<double>(static_cast<float>((q - zero) * scale));
}

// The one node that makes a view's value, where that is an activation which cuts its x off, too.
const Node *limiter_of(const Graph &graph, uint32_t value) {
  const auto makes = [&](const Node &node) { return std::find(node.out.begin(), node.out.end(), value) != node.out.end(); };
  const auto node = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), makes);
  if (node == graph.nodes.rend() || node->op != OpKind::kUnary) return nullptr;
  const BlobActivation &act = std::get<AttrUnary>(node->attr).act;
  const bool is_clip = act.act == static_cast<uint32_t>(Act::kClip) && act.alpha <= act.beta;
  return is_clip || act.act == static_cast<uint32_t>(Act::kRelu) ? &*node : nullptr;
}

View clipped(Builder &b, View x, double low, double high, const std::string &name) {
  if (range_of_value(b.graph, x.value).lies_in(low, high)) return x;
  float least = static_cast<float>(low), most = static_cast<float>(high);
  if (const Node *before = limiter_of(b.graph, x.value)) {
    const BlobActivation &act = std::get<AttrUnary>(before->attr).act;
    const bool is_clip = act.act == static_cast<uint32_t>(Act::kClip);
    const float from = is_clip ? act.alpha : 0, to = is_clip ? act.beta : most;
    x.value = before->in[0];
    const float first = std::clamp(from, least, most);
    most = std::clamp(to, least, most);
    least = first;
  }
  return b.unary(x, {static_cast<uint32_t>(Act::kClip), least, most}, name);
}

// A number for each index of x's axis, as a constant that broadcasts.
View along_axis(Builder &b, const View &x, size_t axis, const std::vector<double> &numbers) {
  Tensor tensor(Elem::kFloat, numbers.size() == 1 ? Shape() : Shape(x.axes.size() - axis, 1));
  if (numbers.size() != 1) tensor.shape[0] = static_cast<int64_t>(numbers.size());
  tensor.data = numbers;
  return b.const_view(tensor);
}

View clipped_by_channel(const OpCall &call, const View &x, const Grid &grid, const QuantizedRange &range) {
  std::vector<double> least, most;
  for (size_t i = 0; i < grid.scale.size(); ++i) {
    least.push_back(bound(range.least, grid.zero[i], grid.scale[i]));
    most.push_back(bound(range.most, grid.zero[i], grid.scale[i]));
  }
  Builder &b = call.b;
  const View above = b.binary(Binary::kMax, x, along_axis(b, x, grid.axis, least), call.name);
  return b.binary(Binary::kMin, above, along_axis(b, above, grid.axis, most), call.name);
}

// int8 panels take x as integers from -127 to 127 around 0. Another range is no scale of x.
void quantize(OpCall &call) {
  View x = call.pointwise_view(0, true);  // 0 is the zero point, which all types have
  const Grid grid = grid_of(call, x);
  const int type =
      call.has(2) ? call.constant(2, "the zero point").file_type : static_cast<int>(call.attributes.integer("output_dtype", 0));
  const QuantizedRange range = quantized_range(type);
  const double zero = grid.zero[0];
  if (grid.is_single()) {
    x = clipped(call.b, x, bound(range.least, zero, grid.scale[0]), bound(range.most, zero, grid.scale[0]), call.name);
  } else {
    x = clipped_by_channel(call, x, grid, range);
    x.channel_grid = std::make_shared<const ChannelGrid>(ChannelGrid{grid.scale, grid.zero, grid.axis, x.axes});
  }
  const bool bytes = grid.is_single() && range.least - zero == -128 && range.most - zero == 127;
  x.quantized = true;
  x.grid_scale = grid.scale[0];
  x.grid_zero = zero;
  x.step = bytes ? static_cast<float>(grid.scale[0]) : 0.0f;
  if (!call.b.discovering && grid.is_single() && !bytes && range.most - range.least == 255)
    call.b.graph.notes.push_back(
        "node " + quote(call.name) + " quantizes to int8 around " + std::to_string(static_cast<int>(zero)) +
        ", which int8 panels do not have: an int8 layer that reads it finds a scale for each row and step");
  call.give(0, x);
}

bool lies_as(const View &x, const std::vector<Axis> &axes) {
  const auto same = [](const Atom &a, const Atom &b) { return a.kind == b.kind && a.steps() == b.steps() && a.stride == b.stride; };
  return std::equal(x.axes.begin(), x.axes.end(), axes.begin(), axes.end(),
                    [&](const Axis &a, const Axis &b) { return std::equal(a.begin(), a.end(), b.begin(), b.end(), same); });
}

// Scales for each index come off again only where they lie as they were put on.
View without_channel_grid(const OpCall &call, View x) {
  const ChannelGrid &from = *x.channel_grid;
  const Grid grid = grid_of(call, x);
  if (grid.scale != from.scale || grid.zero != from.zero || grid.axis != from.axis || !lies_as(x, from.axes))
    throw Refusal("its scales are not those of QuantizeLinear before it; accepted: the same for each index of the same axis");
  x.quantized = false;
  x.channel_grid = nullptr;
  return x;
}

View with_number(const OpCall &call, Binary op, const View &x, double v) {
  Tensor number(Elem::kFloat, {});
  number.data[0] = v;
  return call.b.binary(op, x, call.b.const_view(number), call.name);
}

// Behind QuantizeLinear of the same grid nothing is left; another grid stretches and shifts.
void dequantize(OpCall &call) {
  View x = call.any_view(0);
  if (x.quantized && x.channel_grid != nullptr) return call.give(0, without_channel_grid(call, x));
  const Grid grid = grid_of(call, x);
  if (x.quantized) {
    if (!grid.is_single())
      throw Refusal("it has a scale for each index of an axis, QuantizeLinear before it one; accepted: the same");
    const double scale = grid.scale[0], zero = grid.zero[0];
    const double stretch = scale / x.grid_scale, shift = (x.grid_zero - zero) * scale;
    if (shift != 0) x = settled_but_unknown(call.b, x, call.name);
    x.quantized = false;
    x.step_of = x.step == static_cast<float>(scale) && shift == 0 ? x.value : kNone;
    if (stretch != 1) x = with_number(call, Binary::kMul, x, stretch);
    if (shift != 0) x = with_number(call, Binary::kAdd, x, shift);
    call.give(0, x);
    return;
  }
  View y = call.number_view(0);
  const auto numbers = [&](const std::vector<double> &list) { return along_axis(call.b, y, grid.axis, list); };
  const bool plain = std::all_of(grid.zero.begin(), grid.zero.end(), [](double zero) { return zero == 0; });
  if (!plain) y = call.b.binary(Binary::kSub, y, numbers(grid.zero), call.name);
  call.give(0, call.b.binary(Binary::kMul, y, numbers(grid.scale), call.name));
}

}  // namespace

const std::vector<ImportRow> kImportQuantize = {
    {"QuantizeLinear", quantize,
     "constants; at run time before DequantizeLinear, as a Clip to the range of its integers: x of int8 layers"},
    {"DequantizeLinear", dequantize,
     "constants: weights keep their integers; at run time with the scales of its QuantizeLinear, or one"},
};

}  // namespace rnnp::compiler
