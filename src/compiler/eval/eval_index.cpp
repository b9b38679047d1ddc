// eval_index.cpp -- operators that pick elements by place: padding, gathering by element, triangles, blocks. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "compiler/eval/eval.h"
#include "compiler/eval/resize.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

PadSpec pad_spec(const Attributes &attributes, int64_t opset, const std::vector<const Tensor *> &in, size_t rank) {
  const auto input = [&](size_t i) { return i < in.size() && in[i] ? to_ints(*in[i]) : std::vector<int64_t>(); };
  const std::string mode = attributes.text("mode", "constant");
  PadSpec spec;
  if (mode == "constant") {
    spec.mode = PadMode::kConstant;
  } else if (mode == "reflect") {
    spec.mode = PadMode::kReflect;
  } else if (mode == "edge") {
    spec.mode = PadMode::kEdge;
  } else if (mode == "wrap") {
    spec.mode = PadMode::kWrap;
  } else {
    throw Refusal("attribute 'mode' is " + quote(mode) + "; accepted: constant, reflect, edge, wrap");
  }
  const std::vector<int64_t> pads = opset < 11 ? attributes.integers("pads") : input(1);
  std::vector<int64_t> axes = input(3);
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size())
    throw Refusal("pads has " + std::to_string(pads.size()) + " numbers; accepted: two for each axis");
  spec.before.assign(rank, 0);
  spec.after.assign(rank, 0);
  constexpr int64_t kMost = int64_t{1} << 28;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = normal_axis(axes[i], rank);
    spec.before[axis] = std::clamp(pads[i], -kMost, kMost);
    spec.after[axis] = std::clamp(pads[axes.size() + i], -kMost, kMost);
  }
  for (size_t i = 0; i < rank; ++i) {
    const bool both = spec.before[i] < 0 ? spec.after[i] > 0 : spec.after[i] < 0 && spec.before[i] > 0;
    if (both && spec.mode == PadMode::kWrap) throw Refusal("pads cuts one end of an axis that wraps around; accepted: adding");
  }
  if (opset < 11) spec.value = attributes.real("value", 0);
  if (opset >= 11 && in.size() > 2 && in[2]) {
    if (in[2]->size() != 1) throw Refusal("input 'constant_value' must be one number");
    spec.value = in[2]->data[0];
  }
  return spec;
}

int64_t pad_source(PadMode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (mode == PadMode::kConstant || size == 0) return -1;
  if (mode == PadMode::kEdge) return at < 0 ? 0 : size - 1;
  const int64_t period = mode == PadMode::kWrap ? size : std::max<int64_t>(2 * (size - 1), 1);
  const int64_t place = (at % period + period) % period;
  return place < size ? place : period - place;
}

namespace {

void pad(EvalCall &call) {
  const Tensor &x = call.input(0);
  const PadSpec spec = pad_spec(call.attributes, call.opset, call.in, x.rank());
  Shape dims = x.shape;
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] += spec.before[i] + spec.after[i];
    if (dims[i] < 0) throw Refusal("pads cuts off more than axis " + std::to_string(i) + " has");
    if (x.shape[i] == 0 && dims[i] > 0 && spec.mode != PadMode::kConstant) throw Refusal("an empty axis has nothing to pad with");
  }
  Tensor out(x.elem, dims);
  const Shape strides = dense_strides(x.shape);
  Shape index(dims.size(), 0);
  for (double &v : out.data) {
    int64_t from = 0;
    for (size_t i = 0; i < dims.size() && from >= 0; ++i) {
      const int64_t place = pad_source(spec.mode, index[i] - spec.before[i], x.shape[i]);
      from = place < 0 ? -1 : from + place * strides[i];
    }
    v = from < 0 ? spec.value : x.data[from];
    for (size_t i = dims.size(); i-- > 0 && ++index[i] == dims[i];) index[i] = 0;
  }
  call.give(std::move(out));
}

void gather_elements(EvalCall &call) {
  const Tensor &x = call.input(0), &places = call.input(1);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.rank());
  if (places.rank() != x.rank()) throw Refusal("its inputs differ in rank");
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != axis && places.shape[i] > x.shape[i])
      throw Refusal("indices of shape " + shape_text(places.shape) + " exceed " + shape_text(x.shape));
  }
  Tensor out(x.elem, places.shape);
  Shape strides = dense_strides(x.shape);
  const int64_t step = strides[axis];
  strides[axis] = 0;
  for_each_index(places.shape, strides, 0, [&](int64_t i, int64_t at) {
    const size_t place = normal_index(to_int(places.data[i]), x.shape[axis]);
    out.data[i] = x.data[at + static_cast<int64_t>(place) * step];
  });
  call.give(std::move(out));
}

void trilu(EvalCall &call) {
  Tensor out = call.input(0);
  if (out.rank() < 2) throw Refusal("its input has rank " + std::to_string(out.rank()) + "; accepted: 2 and more");
  if (call.has(1) && call.in[1]->size() != 1) throw Refusal("input 'k' must be one number");
  const double k = call.has(1) ? call.in[1]->data[0] : 0;
  const bool upper = call.attributes.integer("upper", 1) != 0;
  const int64_t columns = out.shape.back(), rows = out.shape[out.rank() - 2];
  for (int64_t i = 0; i < out.size(); ++i) {
    const double past = static_cast<double>(i % columns - i / columns % rows);
    if (upper ? past < k : past > k) out.data[i] = 0;
  }
  call.give(std::move(out));
}

// Depth to space when `spread`, else space to depth: both read [N, ...] through one permutation of six axes.
Tensor permuted(const Tensor &x, const Shape &six, const std::vector<size_t> &order, const Shape &dims) {
  const Shape dense = dense_strides(six);
  Shape sizes, strides;
  for (size_t axis : order) {
    sizes.push_back(six[axis]);
    strides.push_back(dense[axis]);
  }
  Tensor out(x.elem, dims);
  for_each_index(sizes, strides, 0, [&](int64_t i, int64_t at) { out.data[i] = x.data[at]; });
  return out;
}

int64_t block_of(const EvalCall &call) {
  const Shape &s = call.input(0).shape;
  const int64_t block = call.attributes.integer("blocksize", 0);
  if (s.size() != 4 || block < 1 || block > (int64_t{1} << 20)) throw Refusal("it needs rank 4 and a positive blocksize");
  return block;
}

void depth_to_space(EvalCall &call) {
  const int64_t b = block_of(call);
  const Shape &s = call.input(0).shape;
  if (s[1] % (b * b) != 0) throw Refusal("the channels are no multiple of blocksize squared");
  const int64_t c = s[1] / (b * b);
  const Shape dims{s[0], c, s[2] * b, s[3] * b};
  const std::string mode = call.attributes.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw Refusal("attribute 'mode' is " + quote(mode) + "; accepted: DCR, CRD");
  if (mode == "DCR") return call.give(permuted(call.input(0), {s[0], b, b, c, s[2], s[3]}, {0, 3, 4, 1, 5, 2}, dims));
  call.give(permuted(call.input(0), {s[0], c, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3}, dims));
}

void space_to_depth(EvalCall &call) {
  const int64_t b = block_of(call);
  const Shape &s = call.input(0).shape;
  if (s[2] % b != 0 || s[3] % b != 0) throw Refusal("height or width is no multiple of blocksize");
  const Shape dims{s[0], s[1] * b * b, s[2] / b, s[3] / b};
  call.give(permuted(call.input(0), {s[0], s[1], s[2] / b, b, s[3] / b, b}, {0, 3, 5, 1, 2, 4}, dims));
}

// The first lengths[n] elements of the time axis of row n the other way round.
void reverse_sequence(EvalCall &call) {
  const Tensor &x = call.input(0);
  const std::vector<int64_t> lengths = to_ints(call.input(1));
  const size_t time = normal_axis(call.attributes.integer("time_axis", 0), x.rank());
  const size_t batch = normal_axis(call.attributes.integer("batch_axis", 1), x.rank());
  if (time == batch || static_cast<int64_t>(lengths.size()) != x.shape[batch])
    throw Refusal("sequence_lens has " + std::to_string(lengths.size()) + " numbers; accepted: one for each row of the batch axis");
  const Shape strides = dense_strides(x.shape);
  Tensor out = x;
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t t = i / strides[time] % x.shape[time], length = lengths[static_cast<size_t>(i / strides[batch] % x.shape[batch])];
    if (length < 0 || length > x.shape[time]) throw Refusal("a length is outside 0 to the number of steps");
    if (t < length) out.data[static_cast<size_t>(i)] = x.data[static_cast<size_t>(i + (length - 1 - 2 * t) * strides[time])];
  }
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalIndex = {
    {"Pad", pad},
    {"Resize", eval_resize},
    {"GatherElements", gather_elements},
    {"Trilu", trilu},
    {"DepthToSpace", depth_to_space},
    {"SpaceToDepth", space_to_depth},
    {"ReverseSequence", reverse_sequence},
};

}  // namespace rnnp::compiler
