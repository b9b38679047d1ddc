// winograd_choice.cpp -- Contract: winograd_choice.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/winograd_choice.h"

#include "pack/winograd.h"

namespace rnnp::compiler {
namespace {

constexpr uint32_t kTaps = 9;

bool has_form(const Conv &conv) {
  const AttrConv &a = conv.shape;
  const BlobWindow &w = a.window;
  for (int axis = 0; axis < 2; ++axis) {
    if (w.kernel[axis] != 3 || w.stride[axis] != 1 || w.dilation[axis] != 1) return false;
  }
  return a.y_plane != 0 && a.groups == 1 && a.time_taps == 1 && a.lead == 0 && w.x_stride[1] == 1 &&
         conv.storage.type == DType::kF32 && conv.storage.index_bytes == 0;
}

// Multiply-adds of a result's tile, with the transforms of x and back in what they take of a CPU's time, beside those of its
// windows; edges of the last tiles are work too. Nine tenths: a form that wins by less costs the bytes for nothing.
bool is_cheaper(const AttrConv &a) {
  constexpr uint64_t kOfChannel = 128, kOfUnit = 100;
  const BlobWindow &w = a.window;
  const uint64_t in = a.in_channels, out = a.out_channels, results = uint64_t{w.out_size[0]} * w.out_size[1];
  const uint64_t tiles = uint64_t{(w.out_size[0] + 1) / 2} * ((w.out_size[1] + 1) / 2);
  return 10 * tiles * (kWinogradPoints * in * out + kOfChannel * in + kOfUnit * out) <= 9 * results * kTaps * in * out;
}

// Half of the L2 that most CPUs have.
bool fits_caches(const AttrConv &a) {
  constexpr uint64_t kMostBytes = 256 * 1024;
  return kWinogradPoints * uint64_t{a.in_channels} * a.out_channels * sizeof(float) <= kMostBytes;
}

}  // namespace

void choose_winograd(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (auto *conv = std::get_if<Conv>(&node.attr))
      conv->winograd = has_form(*conv) && fits_caches(conv->shape) && is_cheaper(conv->shape);
  }
}

std::vector<float> winograd_weights(const Conv &conv) {
  const AttrConv &a = conv.shape;
  std::vector<float> points(size_t{a.out_channels} * kWinogradPoints * a.in_channels);
  put_winograd_weights(conv.w.data(), a.out_channels, a.in_channels, points.data());
  return points;
}

}  // namespace rnnp::compiler
