// ops_resize.cpp -- Contract: ops_resize.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/ops_resize.h"

#include <algorithm>

#include "compiler/eval/resize.h"
#include "compiler/import/product.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Each element so many times, one after the other; 0 where that is not what is asked for.
int64_t repeats_of(const ResizedAxis &axis) {
  if (!axis.nearest || axis.out % axis.in != 0) return 0;
  const int64_t times = axis.out / axis.in;
  for (int64_t i = 0; i < axis.out; ++i) {
    if (axis.from[static_cast<size_t>(i)] != i / times) return 0;
  }
  return times;
}

View interpolated(OpCall &call, const View &x, const ResizedAxis &axis) {
  std::string labels;
  for (size_t i = 0; i < x.axes.size(); ++i) labels += static_cast<char>('a' + i);
  std::string out = labels;
  out[axis.axis] = 'z';
  Factor weights;
  weights.labels = std::string("z") + labels[axis.axis];
  weights.constant = axis.matrix();
  return product_of(call.b, {labels, x, {}}, std::move(weights), out, call.name);
}

// Steps and batch rows stay as many, which is said before any of their stand-ins is computed with. Gives `given` as numbers.
Tensor feature_sizes(const OpCall &call, const View &x, const Tensor &given, bool are_sizes) {
  const std::vector<size_t> axes = axes_of_resize(call.attributes, x.axes.size());
  Tensor numbers = given;
  for (size_t i = 0; i < axes.size() && i < given.data.size(); ++i) {
    const Axis &axis = x.axes[axes[i]];
    const bool is_open = std::any_of(axis.begin(), axis.end(), [&](const Atom &atom) {
      return !atom.is_feature() || (atom.origin >= 0 && call.b.origins->dynamic(atom.origin));
    });
    const bool stays = are_sizes ? given.dim(i) == call.b.dim_of(axis) : given.data[i] == 1;
    if (is_open && !stays) throw Refusal("it resizes the time or batch axis of " + view_text(x) + "; accepted: feature axes");
    if (!is_open && !given.dim(i).is_number())
      throw Refusal("it makes " + given.dim(i).text() + " elements of axis " + std::to_string(axes[i]) + " of " + view_text(x) +
                    "; accepted: a constant number");
    if (is_open && are_sizes) numbers.data[i] = static_cast<double>(axis_size(axis));
  }
  numbers.dims.clear();
  return numbers;
}

}  // namespace

void import_resize(OpCall &call) {
  View x = call.real_view(0);
  std::vector<const Tensor *> in = call.constants_and_sizes();
  const size_t last = in.size() - 1;
  Tensor numbers;
  if (last > 0 && in[last] != nullptr) {
    numbers = feature_sizes(call, x, *in[last], last == 3);
    in[last] = &numbers;
  }
  for (const ResizedAxis &axis : resized_axes(call.attributes, call.opset, in, view_shape(x))) {
    if (const int64_t times = repeats_of(axis); times > 0) {
      x.axes[axis.axis].push_back(Atom{Atom::Kind::kFeature, times, 0, -1});
    } else {
      x = interpolated(call, x, axis);
    }
  }
  call.give(0, x);
}

}  // namespace rnnp::compiler
