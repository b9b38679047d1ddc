// eval_shape.cpp -- operators that only move data or compute shapes. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

SliceSpec slice_spec(const Attributes &attributes, int64_t opset, const std::vector<const Tensor *> &in, size_t rank) {
  const auto input = [&](size_t i) { return i < in.size() && in[i] ? to_ints(*in[i]) : std::vector<int64_t>(); };
  SliceSpec spec;
  if (opset < 10) {
    spec = {attributes.integers("starts"), attributes.integers("ends"), attributes.integers("axes"), {}};
  } else {
    spec = {input(1), input(2), input(3), input(4)};
  }
  if (spec.axes.empty()) {
    for (size_t i = 0; i < spec.starts.size(); ++i) spec.axes.push_back(static_cast<int64_t>(i));
  }
  if (spec.steps.empty()) spec.steps.assign(spec.starts.size(), 1);
  const size_t count = spec.starts.size();
  if (spec.ends.size() != count || spec.axes.size() != count || spec.steps.size() != count) {
    throw Refusal("starts, ends, axes and steps differ in length");
  }
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = normal_axis(spec.axes[i], rank);
    if (seen[axis]) throw Refusal("axis " + std::to_string(axis) + " is cut twice");
    seen[axis] = true;
    if (spec.steps[i] == 0) throw Refusal("a step is 0; accepted: any other integer");
  }
  return spec;
}

SliceRange slice_range(const SliceSpec &spec, size_t i, int64_t dim, size_t rank) {
  const int64_t step = std::clamp<int64_t>(spec.steps[i], -(dim + 1), dim + 1);
  const auto wrap = [&](int64_t v) { return v < 0 ? (v < -dim ? -1 : v + dim) : std::min(v, dim); };
  int64_t first = wrap(spec.starts[i]), last = wrap(spec.ends[i]);
  if (step > 0) {
    first = std::max<int64_t>(first, 0);
    last = std::max<int64_t>(last, 0);
  } else {
    first = std::min(first, dim - 1);
  }
  const int64_t span = step > 0 ? last - first : first - last;
  const int64_t stride = step > 0 ? step : -step;
  const int64_t count = span > 0 ? (span + stride - 1) / stride : 0;
  return {normal_axis(spec.axes[i], rank), first, count, step};
}

Shape reshape_target(const Shape &from, const std::vector<int64_t> &wanted, bool allow_zero) {
  Shape out = wanted;
  size_t guess = out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && !allow_zero) {
      if (i >= from.size())
        throw Refusal("the shape copies dimension " + std::to_string(i) + " of a tensor of rank " + std::to_string(from.size()));
      out[i] = from[i];
    }
    if (out[i] < -1 || (out[i] == -1 && guess != out.size())) {
      throw Refusal("the shape " + shape_text(wanted) + " is not valid; accepted: dimensions, 0 and at most one -1");
    }
    if (out[i] == -1) guess = i;
  }
  const int64_t total = element_count(from, int64_t{1} << 62);
  Shape others = out;
  if (guess != out.size()) others[guess] = 1;
  const int64_t rest = element_count(others, int64_t{1} << 62);
  const bool fits = guess == out.size() ? rest == total : rest != 0 && total % rest == 0;
  if (!fits)
    throw Refusal("a tensor of shape " + shape_text(from) + " cannot take shape " + shape_text(wanted) +
                  ": the two need as many elements");
  if (guess != out.size()) out[guess] = total / rest;
  return out;
}

bool squeeze_axes(const Attributes &attributes, const std::vector<const Tensor *> &in, std::vector<int64_t> *axes) {
  if (in.size() > 1 && in[1]) {
    *axes = to_ints(*in[1]);
    return true;
  }
  *axes = attributes.integers("axes");
  return attributes.has("axes");
}

std::vector<int64_t> split_sizes(const Attributes &attributes, const std::vector<const Tensor *> &in, int64_t dim, size_t outputs) {
  if (attributes.integer("num_outputs", static_cast<int64_t>(outputs)) != static_cast<int64_t>(outputs)) {
    throw Refusal("attribute 'num_outputs' is " + std::to_string(attributes.integer("num_outputs", 0)) + ", the node has " +
                  std::to_string(outputs) + " outputs");
  }
  std::vector<int64_t> sizes = in.size() > 1 && in[1] ? to_ints(*in[1]) : attributes.integers("split");
  if (sizes.empty() && outputs > 0) {
    const int64_t count = static_cast<int64_t>(outputs), piece = (dim + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(std::max<int64_t>(0, std::min(piece, dim - i * piece)));
  }
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > dim - sum)
      throw Refusal("the pieces " + shape_text(sizes) + " do not make up an axis of " + std::to_string(dim));
    sum += size;
  }
  if (sum != dim || sizes.size() != outputs) {
    throw Refusal("the pieces " + shape_text(sizes) + " do not make up an axis of " + std::to_string(dim));
  }
  return sizes;
}

namespace {

Tensor strided(const Tensor &x, const Shape &dims, const Shape &strides, int64_t first) {
  Tensor out(x.elem, dims, kMaxComputedElems, x.data.are_floats());
  x.data.numbers().as_they_are([&](const auto *from) {
    auto *to = out.data.same_as(from);
    for_each_index(dims, strides, first, [&](int64_t i, int64_t at) { to[i] = from[at]; });
  });
  return out;
}

Tensor reshaped(Tensor x, Shape shape) {
  x.shape = std::move(shape);
  return x;
}

void identity(EvalCall &call) {
  call.give(call.input(0));
}

void dropout(EvalCall &call) {
  if (call.has(2) && call.in[2]->size() == 1 && call.in[2]->data[0] != 0)
    throw Refusal("training_mode is set; accepted: inference");
  call.give(call.input(0));
  if (call.wants(1)) {
    Tensor mask(Elem::kBool, call.input(0).shape);
    std::fill(mask.data.begin(), mask.data.end(), 1.0);
    call.give(1, std::move(mask));
  }
}

// One that became no initializer (onnx/constant_nodes.h).
void constant(EvalCall &call) {
  if (const OnnxAttribute *value = call.attributes.find("value")) (void)value->t().tensor();
  throw Refusal("it has no value; accepted: one of value, value_int(s), value_float(s)");
}

void constant_of_shape(EvalCall &call) {
  Tensor value(Elem::kFloat, {1});
  if (const auto *given = call.attributes.find("value")) value = *given->t().tensor();
  if (value.size() != 1) throw Refusal("attribute 'value' must have one element");
  Tensor out(value.elem, to_ints(call.input(0)));
  std::fill(out.data.begin(), out.data.end(), value.data[0]);
  call.give(std::move(out));
}

void cast_to(EvalCall &call, int64_t to) {
  Tensor out = call.input(0);
  const bool real = to == kOnnxFloat || to == kOnnxDouble || to == kOnnxFloat16 || to == kOnnxBfloat16;
  out.elem = real ? Elem::kFloat : to == kOnnxBool ? Elem::kBool : Elem::kInt;
  // What is real stands for f32 already: rounded, it would differ from itself.
  const bool rounds = to == kOnnxFloat && call.input(0).elem != Elem::kFloat;
  for (double &v : out.data) {
    if (out.elem == Elem::kBool) v = v != 0 ? 1 : 0;
    if (out.elem == Elem::kInt) v = std::trunc(v);
    if (rounds) v = static_cast<double>(static_cast<float>(v));
  }
  call.give(std::move(out));
}

void cast(EvalCall &call) {
  cast_to(call, call.attributes.integer("to", 0));
}

void cast_like(EvalCall &call) {
  const Elem elem = call.input(1).elem;
  cast_to(call, elem == Elem::kFloat ? kOnnxFloat : elem == Elem::kBool ? kOnnxBool : kOnnxInt64);
}

void shape_of(EvalCall &call) {
  const Shape &shape = call.input(0).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  const auto wrap = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t first = wrap(call.attributes.integer("start", 0)), last = wrap(call.attributes.integer("end", rank));
  call.give(first < last ? int_tensor(Shape(shape.begin() + first, shape.begin() + last)) : int_tensor({}));
}

void size_of(EvalCall &call) {
  call.give(reshaped(int_tensor({call.input(0).size()}), {}));
}

void reshape(EvalCall &call) {
  const std::vector<int64_t> wanted = to_ints(call.input(1));
  call.give(reshaped(call.input(0), reshape_target(call.input(0).shape, wanted, call.attributes.integer("allowzero", 0) != 0)));
}

void flatten(EvalCall &call) {
  const Shape &shape = call.input(0).shape;
  const int64_t rank = static_cast<int64_t>(shape.size()), axis = call.attributes.integer("axis", 1);
  const size_t at = axis == rank ? shape.size() : normal_axis(axis, shape.size());
  int64_t rows = 1, columns = 1;
  for (size_t i = 0; i < shape.size(); ++i) (i < at ? rows : columns) *= shape[i];
  call.give(reshaped(call.input(0), {rows, columns}));
}

void squeeze(EvalCall &call) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> axes;
  std::vector<bool> gone(x.rank(), false);
  if (squeeze_axes(call.attributes, call.in, &axes)) {
    for (int64_t axis : axes) gone[normal_axis(axis, x.rank())] = true;
  } else {
    for (size_t i = 0; i < x.rank(); ++i) gone[i] = x.shape[i] == 1;
  }
  Shape out;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (gone[i] && x.shape[i] != 1)
      throw Refusal("axis " + std::to_string(i) + " has size " + std::to_string(x.shape[i]) + ", not 1");
    if (!gone[i]) out.push_back(x.shape[i]);
  }
  call.give(reshaped(x, out));
}

void unsqueeze(EvalCall &call) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> axes;
  squeeze_axes(call.attributes, call.in, &axes);
  const size_t rank = x.rank() + axes.size();
  std::vector<bool> fresh(rank, false);
  for (int64_t axis : axes) fresh[normal_axis(axis, rank)] = true;
  Shape out;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (!fresh[i] && next >= x.rank()) throw Refusal("an axis is given twice");
    out.push_back(fresh[i] ? 1 : x.shape[next++]);
  }
  call.give(reshaped(x, out));
}

void transpose(EvalCall &call) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> perm = call.attributes.integers("perm");
  if (perm.empty()) {
    perm.resize(x.rank());
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  if (perm.size() != x.rank()) throw Refusal("attribute 'perm' does not fit rank " + std::to_string(x.rank()));
  const Shape dense = dense_strides(x.shape);
  Shape dims, strides;
  std::vector<bool> seen(x.rank(), false);
  for (int64_t axis : perm) {
    const size_t at = normal_axis(axis, x.rank());
    if (seen[at]) throw Refusal("attribute 'perm' has axis " + std::to_string(at) + " twice");
    seen[at] = true;
    dims.push_back(x.shape[at]);
    strides.push_back(dense[at]);
  }
  call.give(strided(x, dims, strides, 0));
}

void slice(EvalCall &call) {
  const Tensor &x = call.input(0);
  const SliceSpec spec = slice_spec(call.attributes, call.opset, call.in, x.rank());
  Shape dims = x.shape, strides = dense_strides(x.shape);
  int64_t first = 0;
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    const SliceRange range = slice_range(spec, i, x.shape[normal_axis(spec.axes[i], x.rank())], x.rank());
    first += range.first * strides[range.axis];
    dims[range.axis] = range.count;
    strides[range.axis] *= range.step;
  }
  call.give(strided(x, dims, strides, first));
}

void concat(EvalCall &call) {
  const Tensor &head = call.input(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), head.rank());
  Shape dims = head.shape;
  dims[axis] = 0;
  for (size_t i = 0; i < call.in.size(); ++i) {
    Shape other = call.input(i).shape, mine = dims;
    if (other.size() != dims.size()) throw Refusal("its inputs differ in rank");
    dims[axis] += other[axis];
    other[axis] = mine[axis] = 0;
    if (other != mine)
      throw Refusal("its inputs differ outside the axis: " + shape_text(head.shape) + " and " + shape_text(call.input(i).shape) +
                    "; accepted: the same sizes on every other axis");
  }
  const bool floats = std::all_of(call.in.begin(), call.in.end(), [](const Tensor *x) { return x->data.are_floats(); });
  Tensor out(head.elem, dims, kMaxComputedElems, floats);
  const Shape strides = dense_strides(dims);
  const auto place_all = [&](auto *to) {
    int64_t first = 0;
    for (const Tensor *x : call.in) {
      x->data.numbers().as_they_are([&](const auto *from) {
        for_each_index(x->shape, strides, first,
                       [&](int64_t i, int64_t at) { to[at] = static_cast<std::remove_pointer_t<decltype(to)>>(from[i]); });
      });
      first += x->shape[axis] * strides[axis];
    }
  };
  floats ? place_all(out.data.same_as(static_cast<const float *>(nullptr))) : place_all(out.data.data());
  call.give(std::move(out));
}

void split(EvalCall &call) {
  const Tensor &x = call.input(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.rank());
  const Shape strides = dense_strides(x.shape);
  const auto sizes = split_sizes(call.attributes, call.in, x.shape[axis], call.out.size());
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Shape dims = x.shape;
    dims[axis] = sizes[i];
    call.give(i, strided(x, dims, strides, first));
    first += sizes[i] * strides[axis];
  }
}

void gather(EvalCall &call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.rank());
  Shape dims(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), index.shape.begin(), index.shape.end());
  dims.insert(dims.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end());
  Tensor out(x.elem, dims);
  const int64_t inner = dense_strides(x.shape)[axis], count = index.size();
  const int64_t outer = count * inner != 0 ? out.size() / (count * inner) : 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t row = static_cast<int64_t>(normal_index(to_int(index.data[k]), x.shape[axis]));
      std::copy_n(x.data.begin() + (o * x.shape[axis] + row) * inner, inner, out.data.begin() + (o * count + k) * inner);
    }
  }
  call.give(std::move(out));
}

void expand(EvalCall &call) {
  const Tensor &x = call.input(0);
  const Shape dims = broadcast_shape(x.shape, to_ints(call.input(1)));
  element_count(dims);
  call.give(strided(x, dims, broadcast_strides(x.shape, dims), 0));
}

void tile(EvalCall &call) {
  const Tensor &x = call.input(0);
  const std::vector<int64_t> repeats = to_ints(call.input(1));
  if (repeats.size() != x.rank()) throw Refusal("repeats does not fit rank " + std::to_string(x.rank()));
  Shape dims, strides, out;
  const Shape dense = dense_strides(x.shape);
  for (size_t i = 0; i < x.rank(); ++i) {
    dims.insert(dims.end(), {repeats[i], x.shape[i]});
    strides.insert(strides.end(), {0, dense[i]});
  }
  element_count(dims);
  for (size_t i = 0; i < x.rank(); ++i) out.push_back(repeats[i] * x.shape[i]);
  call.give(reshaped(strided(x, dims, strides, 0), out));
}

void range(EvalCall &call) {
  if (call.input(0).size() != 1 || call.input(1).size() != 1 || call.input(2).size() != 1)
    throw Refusal("its inputs must be scalars");
  const double start = call.in[0]->data[0], limit = call.in[1]->data[0], delta = call.in[2]->data[0];
  if (delta == 0) throw Refusal("delta is 0");
  const double count = std::max(std::ceil((limit - start) / delta), 0.0);
  Tensor out(call.in[0]->elem, {to_int(count)});
  for (int64_t i = 0; i < out.size(); ++i) out.data[i] = start + static_cast<double>(i) * delta;
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalShape = {
    {"Identity", identity}, {"Dropout", dropout}, {"Constant", constant},   {"ConstantOfShape", constant_of_shape},
    {"Cast", cast},         {"Shape", shape_of},  {"Size", size_of},        {"Reshape", reshape},
    {"Flatten", flatten},   {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze}, {"Transpose", transpose},
    {"Slice", slice},       {"Concat", concat},   {"Split", split},         {"Gather", gather},
    {"Expand", expand},     {"Tile", tile},       {"Range", range},         {"CastLike", cast_like},
};

}  // namespace rnnp::compiler
