// eval_place.cpp -- TopK, GatherND, ScatterND and ScatterElements. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

int64_t wanted_places(const Tensor &k) {
  if (k.size() != 1) throw Refusal("K has shape " + shape_text(k.shape) + "; accepted: one element");
  return to_ints(k)[0];
}

// NaN is the largest number.
bool is_less(double a, double b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

void top_k(EvalCall &call) {
  const Tensor &x = call.input(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", -1), x.rank());
  const int64_t k = call.opset < 10 ? call.attributes.integer("k", 0) : wanted_places(call.input(1)), count = x.shape[axis];
  if (k < 0 || k > count) throw Refusal("it takes " + std::to_string(k) + " places of " + std::to_string(count));
  const bool largest = call.attributes.integer("largest", 1) != 0;
  Shape shape = x.shape, starts = dense_strides(x.shape);
  const int64_t step = starts[axis];
  shape[axis] = k;
  Tensor values(x.elem, shape), places(Elem::kInt, shape);
  const Shape to = dense_strides(shape);
  Shape lines = x.shape, from = starts, onto = to;
  lines[axis] = 1;
  std::vector<int64_t> first;
  for_each_index(lines, from, 0, [&](int64_t, int64_t at) { first.push_back(at); });
  for_each_index(lines, onto, 0, [&](int64_t i, int64_t at) {
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    const auto value = [&](int64_t place) { return x.data[static_cast<size_t>(first[static_cast<size_t>(i)] + place * step)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return largest ? is_less(value(b), value(a)) : is_less(value(a), value(b)); });
    for (int64_t n = 0; n < k; ++n) {
      values.data[static_cast<size_t>(at + n * to[axis])] = value(order[static_cast<size_t>(n)]);
      places.data[static_cast<size_t>(at + n * to[axis])] = static_cast<double>(order[static_cast<size_t>(n)]);
    }
  });
  call.give(0, std::move(values));
  call.give(1, std::move(places));
}

// Tuples of `depth` places into the first axes of x: where each begins, and how much is there.
struct Tuples {
  int64_t count, block;
  std::vector<int64_t> first;
};

Tuples tuples_of(const Tensor &x, const Tensor &indices) {
  const int64_t depth = indices.rank() == 0 ? 0 : indices.shape.back();
  if (depth < 1 || depth > static_cast<int64_t>(x.rank()))
    throw Refusal("indices of shape " + shape_text(indices.shape) + " do not fit " + shape_text(x.shape));
  const Shape strides = dense_strides(x.shape);
  Tuples out{indices.size() / depth, strides[static_cast<size_t>(depth - 1)], {}};
  for (int64_t i = 0; i < out.count; ++i) {
    int64_t at = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const size_t axis = static_cast<size_t>(k);
      const int64_t place = to_int(indices.data[static_cast<size_t>(i * depth + k)]);
      at += static_cast<int64_t>(normal_index(place, x.shape[axis])) * strides[axis];
    }
    out.first.push_back(at);
  }
  return out;
}

void gather_nd(EvalCall &call) {
  if (call.attributes.integer("batch_dims", 0) != 0) throw Refusal("attribute 'batch_dims' is not 0; accepted: 0");
  const Tensor &x = call.input(0), &indices = call.input(1);
  const Tuples tuples = tuples_of(x, indices);
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(indices.shape.back()), x.shape.end());
  Tensor out(x.elem, shape);
  auto to = out.data.begin();
  for (const int64_t at : tuples.first) to = std::copy_n(x.data.begin() + at, tuples.block, to);
  call.give(std::move(out));
}

bool adds(const EvalCall &call) {
  const std::string reduction = call.attributes.text("reduction", "none");
  if (reduction != "none" && reduction != "add")
    throw Refusal("attribute 'reduction' is " + quote(reduction) + "; accepted: none, add");
  return reduction == "add";
}

void scatter_nd(EvalCall &call) {
  Tensor out = call.input(0);
  const Tensor &updates = call.input(2);
  const Tuples tuples = tuples_of(out, call.input(1));
  if (updates.size() != tuples.count * tuples.block) throw Refusal("updates have shape " + shape_text(updates.shape));
  const bool add = adds(call);
  for (int64_t i = 0; i < updates.size(); ++i) {
    double &to = out.data[static_cast<size_t>(tuples.first[static_cast<size_t>(i / tuples.block)] + i % tuples.block)];
    to = updates.data[static_cast<size_t>(i)] + (add ? to : 0);
  }
  call.give(std::move(out));
}

void scatter_elements(EvalCall &call) {
  Tensor out = call.input(0);
  const Tensor &places = call.input(1), &updates = call.input(2);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), out.rank());
  if (places.rank() != out.rank() || updates.shape != places.shape) throw Refusal("its inputs differ in shape");
  for (size_t i = 0; i < out.rank(); ++i) {
    if (i != axis && places.shape[i] > out.shape[i])
      throw Refusal("indices of shape " + shape_text(places.shape) + " exceed " + shape_text(out.shape));
  }
  const bool add = adds(call);
  Shape strides = dense_strides(out.shape);
  const int64_t step = strides[axis];
  strides[axis] = 0;
  for_each_index(places.shape, strides, 0, [&](int64_t i, int64_t at) {
    const size_t place = normal_index(to_int(places.data[static_cast<size_t>(i)]), out.shape[axis]);
    double &to = out.data[static_cast<size_t>(at + static_cast<int64_t>(place) * step)];
    to = updates.data[static_cast<size_t>(i)] + (add ? to : 0);
  });
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalPlace = {
    {"TopK", top_k}, {"GatherND", gather_nd}, {"ScatterND", scatter_nd}, {"ScatterElements", scatter_elements}};

}  // namespace rnnp::compiler
