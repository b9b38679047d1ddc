// window.cpp -- Contract: window.h.
// SPDX-License-Identifier: Apache-2.0
#include "ops/window.h"

namespace rnnp {
namespace {

bool in_range(uint32_t v) {
  return v >= 1 && v <= kWindowMost;
}

bool axis_fits(const BlobWindow &w, int i) {
  if (!in_range(w.in_size[i]) || !in_range(w.out_size[i]) || !in_range(w.kernel[i]) || !in_range(w.stride[i]) ||
      !in_range(w.dilation[i]) || w.pad[i] > int32_t{kWindowMost} || w.pad[i] < -int32_t{kWindowMost}) {
    return false;
  }
  return uint64_t{w.out_size[i] - 1} * w.stride[i] + uint64_t{w.kernel[i] - 1} * w.dilation[i] <= kWindowMost;
}

bool reads_inside(const BlobWindow &w, uint32_t channels, uint32_t elems) {
  const uint32_t sizes[3] = {w.in_size[0], w.in_size[1], channels};
  int64_t low = w.x_first, high = w.x_first;
  for (int i = 0; i < 3; ++i) {
    const int64_t far = int64_t{w.x_stride[i]} * (int64_t{sizes[i]} - 1);
    if (far > INT32_MAX || far < -int64_t{INT32_MAX}) return false;
    (far < 0 ? low : high) += far;
  }
  return low >= 0 && high < int64_t{elems};
}

// From the first to behind the last element of what `outer` strides over, each of them as long as `inner`.
uint64_t extent(const BlobWindow &w, int outer, uint64_t inner) {
  return uint64_t{w.out_size[outer] - 1} * w.y_stride[outer] + inner;
}

// One axis strides over whole extents of the other, that one over whole results.
bool is_apart(const BlobWindow &w, int outer, int inner, uint32_t channels) {
  if (w.out_size[inner] > 1 && w.y_stride[inner] < channels) return false;
  return w.out_size[outer] == 1 || w.y_stride[outer] >= extent(w, inner, channels);
}

bool writes_inside(const BlobWindow &w, uint32_t channels, uint32_t elems) {
  if (!is_apart(w, 0, 1, channels) && !is_apart(w, 1, 0, channels)) return false;
  return w.y_first + extent(w, 0, extent(w, 1, channels)) <= elems;
}

}  // namespace

bool window_fits(const BlobWindow &w, uint32_t in_channels, uint32_t out_channels, uint32_t x_elems, uint32_t y_elems) {
  if (!axis_fits(w, 0) || !axis_fits(w, 1) || !in_range(in_channels) || !in_range(out_channels)) return false;
  if (uint64_t{w.out_size[0]} * w.out_size[1] > kWindowMost) return false;
  return reads_inside(w, in_channels, x_elems) && writes_inside(w, out_channels, y_elems);
}

Position position_at(const BlobWindow &w, uint32_t batch, size_t index) {
  const uint32_t positions = window_positions(w);
  Position p;
  p.row = index / positions;
  const uint32_t within = static_cast<uint32_t>(index - p.row * positions);
  p.step = static_cast<uint32_t>(p.row / batch);
  p.batch_row = static_cast<uint32_t>(p.row - size_t{p.step} * batch);
  p.h = within / w.out_size[1];
  p.w = within - p.h * w.out_size[1];
  return p;
}

void skip_positions(const BlobWindow &w, uint32_t batch, size_t count, Position *p) {
  for (int lines = 0; lines < 4; ++lines) {  // divisions are dear
    const uint32_t left = w.out_size[1] - p->w;
    if (count < left) {
      p->w += static_cast<uint32_t>(count);
      return;
    }
    p->w = w.out_size[1] - 1;
    next_position(w, batch, p);
    count -= left;
  }
  const size_t at = p->row * window_positions(w) + p->h * w.out_size[1] + p->w;
  *p = position_at(w, batch, at + count);
}

Taps taps_inside(const BlobWindow &w, int axis, int32_t start, uint32_t count) {
  const int32_t size = static_cast<int32_t>(w.in_size[axis]), dilation = static_cast<int32_t>(w.dilation[axis]);
  const int32_t kernel = static_cast<int32_t>(count);
  int32_t begin = start < 0 ? (-start + dilation - 1) / dilation : 0;
  int32_t end = start < size ? (size - 1 - start) / dilation + 1 : 0;
  if (begin > kernel) begin = kernel;
  if (end > kernel) end = kernel;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end < begin ? begin : end)};
}

Reach even_reach(const BlobWindow &window, const PositionStrides &s) {
  const uint32_t w = window.out_size[1], h = window.out_size[0];
  if (h > 1 && w > 1 && s.h != s.w * w) return Reach::kLine;
  const int64_t positions = int64_t{w} * h;
  return positions == 1 || s.row == even_stride(window, s) * positions ? Reach::kAll : Reach::kRow;
}

int64_t even_stride(const BlobWindow &window, const PositionStrides &s) {
  return window.out_size[1] > 1 ? s.w : window.out_size[0] > 1 ? s.h : s.row;
}

uint32_t positions_within(const BlobWindow &window, Reach reach, const Position &p, uint32_t most) {
  if (reach == Reach::kAll) return most;
  const uint32_t line = window.out_size[1] - p.w;
  const uint32_t left = reach == Reach::kLine ? line : line + (window.out_size[0] - 1 - p.h) * window.out_size[1];
  return left < most ? left : most;
}

}  // namespace rnnp
