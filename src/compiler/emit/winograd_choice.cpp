// winograd_choice.cpp -- Contract: winograd_choice.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/winograd_choice.h"

#include <algorithm>

#include "compiler/ir/winograd_cost.h"
#include "pack/winograd.h"

namespace rnnp::compiler {
namespace {

bool is_dense(const Conv &conv) {
  return conv.shape.groups == 1 && conv.storage.type == DType::kF32 && conv.storage.index_bytes == 0;
}

bool are_planes(const AttrConv &a) {
  const BlobWindow &w = a.window;
  for (int axis = 0; axis < 2; ++axis) {
    if (w.kernel[axis] != 3 || w.stride[axis] != 1 || w.dilation[axis] != 1) return false;
  }
  return a.y_plane != 0 && a.time_taps == 1 && a.lead == 0 && w.x_stride[1] == 1;
}

bool are_lines(const AttrConv &a) {
  const BlobWindow &w = a.window;
  return a.y_plane == 0 && w.in_size[0] == 1 && w.out_size[0] == 1 && w.kernel[0] == 1 && w.pad[0] == 0 && w.kernel[1] == 3 &&
         w.stride[1] == 1 && w.dilation[1] == 1 && w.x_stride[2] == 1 && (a.time_taps == 1 || a.time_dilation == 1);
}

bool pays(const AttrConv &a) {
  const uint32_t *results = a.window.out_size;
  return a.y_plane != 0 ? are_planes(a) && winograd_pays(a.in_channels, a.out_channels, results)
                        : are_lines(a) && winograd_lines_pay(a.in_channels, a.out_channels, a.time_taps, results[1]);
}

}  // namespace

void choose_winograd(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (auto *conv = std::get_if<Conv>(&node.attr)) conv->winograd = is_dense(*conv) && pays(conv->shape);
  }
}

std::vector<float> winograd_weights(const Conv &conv) {
  const AttrConv &a = conv.shape;
  if (a.y_plane == 0) {
    std::vector<float> points(size_t{kLinePoints} * a.out_channels * a.time_taps * a.in_channels);
    put_line_weights(conv.w.data(), a.out_channels, a.time_taps, a.in_channels, points.data());
    return points;
  }
  std::vector<float> points(size_t{a.out_channels} * kWinogradPoints * a.in_channels);
  put_winograd_weights(conv.w.data(), a.out_channels, a.in_channels, points.data());
  return points;
}

std::vector<float> line_bias(const Conv &conv) {
  std::vector<float> out(conv.bias.empty() ? 0 : kLinePoints * conv.bias.size());
  std::copy(conv.bias.begin(), conv.bias.end(), out.begin() + kLineStart * static_cast<ptrdiff_t>(conv.bias.size()));
  return out;
}

}  // namespace rnnp::compiler
