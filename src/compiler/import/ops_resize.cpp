// ops_resize.cpp -- Contract: ops_resize.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/ops_resize.h"

#include <algorithm>

#include "compiler/eval/resize.h"
#include "compiler/import/product.h"

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

}  // namespace

void import_resize(OpCall &call) {
  View x = call.real_view(0);
  for (const ResizedAxis &axis : resized_axes(call.attributes, call.opset, call.constants(), view_shape(x))) {
    for (const Atom &atom : x.axes[axis.axis]) {
      const bool open = atom.origin >= 0 && call.b.origins->dynamic(atom.origin);
      if (!atom.is_feature() || open)
        throw Refusal("it resizes the time or batch axis of " + view_text(x) + "; accepted: feature axes");
    }
    if (const int64_t times = repeats_of(axis); times > 0) {
      x.axes[axis.axis].push_back(Atom{Atom::Kind::kFeature, times, 0, -1});
    } else {
      x = interpolated(call, x, axis);
    }
  }
  call.give(0, x);
}

}  // namespace rnnp::compiler
