// winograd_choice.cpp -- Contract: winograd_choice.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/winograd_choice.h"

#include "compiler/ir/winograd_cost.h"
#include "pack/winograd.h"

namespace rnnp::compiler {
namespace {

bool has_form(const Conv &conv) {
  const AttrConv &a = conv.shape;
  const BlobWindow &w = a.window;
  for (int axis = 0; axis < 2; ++axis) {
    if (w.kernel[axis] != 3 || w.stride[axis] != 1 || w.dilation[axis] != 1) return false;
  }
  return a.y_plane != 0 && a.groups == 1 && a.time_taps == 1 && a.lead == 0 && w.x_stride[1] == 1 &&
         conv.storage.type == DType::kF32 && conv.storage.index_bytes == 0;
}

}  // namespace

void choose_winograd(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (auto *conv = std::get_if<Conv>(&node.attr))
      conv->winograd =
          has_form(*conv) && winograd_pays(conv->shape.in_channels, conv->shape.out_channels, conv->shape.window.out_size);
  }
}

std::vector<float> winograd_weights(const Conv &conv) {
  const AttrConv &a = conv.shape;
  std::vector<float> points(size_t{a.out_channels} * kWinogradPoints * a.in_channels);
  put_winograd_weights(conv.w.data(), a.out_channels, a.in_channels, points.data());
  return points;
}

}  // namespace rnnp::compiler
