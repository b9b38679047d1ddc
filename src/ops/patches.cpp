// patches.cpp -- Contract: patches.h.
// SPDX-License-Identifier: Apache-2.0
#include "ops/patches.h"

#include "ops/four_floats.h"

namespace rnnp {
namespace {

constexpr uint32_t kFewChannels = 4;
constexpr uint32_t kShortLine = 16;

// The elements under one line of the window, [kernel w][channels], have stride 1.
bool lines_are_whole(const AttrConv &a) {
  const BlobWindow &w = a.window;
  if (a.in_channels > 1 && w.x_stride[2] != 1) return false;
  return w.kernel[1] == 1 || int64_t{w.dilation[1]} * w.x_stride[1] == int64_t{a.in_channels};
}

// Of windows that fit; of others, either.
bool windows_are_inside(const BlobWindow &w, int axis) {
  const uint64_t last = uint64_t{w.out_size[axis] - 1} * w.stride[axis] + uint64_t{w.kernel[axis] - 1} * w.dilation[axis];
  const int64_t end = int64_t{w.in_size[axis]} + w.pad[axis];
  return w.pad[axis] <= 0 && end > 0 && last < static_cast<uint64_t>(end);
}

// Taps of one line that lie apart. x: its group's first channel at w 0.
float *gather_taps(const AttrConv &a, const float *x, int32_t start, uint32_t taps, float *to) {
  const BlobWindow &w = a.window;
  for (uint32_t k = 0; k < taps; ++k, to += a.in_channels) {
    const int32_t at = start + static_cast<int32_t>(k * w.dilation[1]);
    if (at < 0 || at >= static_cast<int32_t>(w.in_size[1])) {
      zero_bytes(to, a.in_channels * sizeof(float));
      continue;
    }
    const float *from = x + ptrdiff_t{at} * w.x_stride[1];
    for (uint32_t i = 0; i < a.in_channels; ++i) to[i] = from[static_cast<ptrdiff_t>(i) * w.x_stride[2]];
  }
  return to;
}

// Taps [begin, end) of a whole line lie in x, the others are zeros.
float *copy_taps(const AttrConv &a, const float *x, int32_t start, Taps inside, uint32_t taps, float *to) {
  const BlobWindow &w = a.window;
  const size_t before = size_t{inside.begin} * a.in_channels, count = size_t{inside.end - inside.begin} * a.in_channels;
  const size_t all = size_t{taps} * a.in_channels;
  if (before != 0) zero_bytes(to, before * sizeof(float));
  if (count != 0) {
    const ptrdiff_t at = start + static_cast<ptrdiff_t>(inside.begin * w.dilation[1]);
    copy_bytes(to + before, x + at * w.x_stride[1], count * sizeof(float));
  }
  if (before + count != all) zero_bytes(to + before + count, (all - before - count) * sizeof(float));
  return to + all;
}

// One line of x under the windows of some positions: its group's first channel at w 0, and where the first window begins.
struct LineOfWindows {
  const float *x;  // nullptr: zeros
  int32_t column;
  uint32_t elems;  // of a window
};

const float *element_of(const AttrConv &a, const LineOfWindows &l, uint32_t i, int32_t *column) {
  const uint32_t tap = i / a.in_channels, channel = i % a.in_channels;
  *column = l.column + static_cast<int32_t>(tap * a.window.dilation[1]);
  return l.x + static_cast<ptrdiff_t>(channel) * a.window.x_stride[2];
}

// Positions [begin, end).
void put_windows(const AttrConv &a, const LineOfWindows &l, uint32_t begin, uint32_t end, size_t depth, float *to) {
  const BlobWindow &w = a.window;
  for (uint32_t i = 0; i < l.elems && begin < end; ++i, ++to) {
    int32_t column = 0;
    const float *from = l.x != nullptr ? element_of(a, l, i, &column) : nullptr;
    column += static_cast<int32_t>(begin * w.stride[1]);
    for (uint32_t n = begin; n < end; ++n, column += static_cast<int32_t>(w.stride[1])) {
      const bool there = from != nullptr && column >= 0 && column < static_cast<int32_t>(w.in_size[1]);
      to[n * depth] = there ? from[ptrdiff_t{column} * w.x_stride[1]] : 0.0f;
    }
  }
}

// Those whose window lies inside of x, where neighbours move by one element: four elements of four windows at a time, the last
// ones once more with those before. How many there are; none of fewer than four.
#if RNNPACK_FOUR_FLOATS
uint32_t put_inner_windows(const AttrConv &a, const LineOfWindows &l, uint32_t count, size_t depth, float *to, uint32_t *first) {
  *first = 0;
  const BlobWindow &w = a.window;
  if (l.x == nullptr || w.stride[1] != 1 || w.x_stride[1] != 1 || l.elems < 4) return 0;
  const int64_t last = int64_t{l.column} + int64_t{w.kernel[1] - 1} * w.dilation[1], behind = int64_t{w.in_size[1]} - last;
  const int64_t begin = l.column < 0 ? -int64_t{l.column} : 0, end = behind < int64_t{count} ? behind : int64_t{count};
  if (end - begin < 4) return 0;
  for (uint32_t i = 0; i < l.elems; i += 4) {
    const uint32_t group = i + 4 <= l.elems ? i : l.elems - 4;
    const float *from[4];
    for (uint32_t k = 0; k < 4; ++k) {
      int32_t column;
      from[k] = element_of(a, l, group + k, &column);
      from[k] += column + begin;
    }
    float *y = to + static_cast<size_t>(begin) * depth + group;
    for (int64_t left = end - begin;; left -= 4) {
      transpose_four(from, y, static_cast<ptrdiff_t>(depth));
      if (left == 4) break;
      const ptrdiff_t step = left < 8 ? static_cast<ptrdiff_t>(left) - 4 : 4;
      if (left < 8) left = 8;
      for (const float *&x : from) x += step;
      y += step * static_cast<ptrdiff_t>(depth);
    }
  }
  *first = static_cast<uint32_t>(begin);
  return static_cast<uint32_t>(end - begin);
}
#else
uint32_t put_inner_windows(const AttrConv &, const LineOfWindows &, uint32_t, size_t, float *, uint32_t *first) {
  *first = 0;
  return 0;
}
#endif

// The windows of `count` positions of one line, tap by tap.
void gather_columns(const AttrConv &a, const float *x, const Position &p, uint32_t count, uint32_t group, float *to) {
  const BlobWindow &w = a.window;
  const size_t depth = conv_depth(a);
  LineOfWindows l = {nullptr, window_start(w, 1, p.w), w.kernel[1] * a.in_channels};
  for (uint32_t k = 0; k < w.kernel[0]; ++k, to += l.elems) {
    const int32_t at = window_start(w, 0, p.h) + static_cast<int32_t>(k * w.dilation[0]);
    const bool inside = x != nullptr && at >= 0 && at < static_cast<int32_t>(w.in_size[0]);
    l.x = nullptr;
    if (inside) l.x = x + w.x_first + ptrdiff_t{at} * w.x_stride[0] + static_cast<ptrdiff_t>(group * a.in_channels) * w.x_stride[2];
    uint32_t first;
    const uint32_t done = put_inner_windows(a, l, count, depth, to, &first);
    put_windows(a, l, 0, first, depth, to);
    put_windows(a, l, first + done, count, depth, to);
  }
}

}  // namespace

Patches patches_of(const AttrConv &a) {
  return {&a, lines_are_whole(a), a.in_channels <= kFewChannels && a.window.kernel[1] <= kShortLine / a.in_channels};
}

bool taps_lie_in_x(const AttrConv &a) {
  const BlobWindow &w = a.window;
  if (!windows_are_inside(w, 0) || !windows_are_inside(w, 1) || !lines_are_whole(a)) return false;
  return w.kernel[0] == 1 || static_cast<uint64_t>(int64_t{w.dilation[0]} * w.x_stride[0]) == uint64_t{w.kernel[1]} * a.in_channels;
}

bool has_taps_in_place(const Model &m, const BlobNode &node) {
  const AttrConv *a = m.attr<AttrConv>(node);
  if (a == nullptr || a->matrix >= m.matrices.count || (a->time_taps == 1 && a->lead == 0)) return false;
  const PanelFormat &format = m.matrix(a->matrix).format;
  const bool plain = format.weight == DType::kF32 && format.nr != 0 && !is_sparse(format);
  return plain && window_positions(a->window) == 1 && taps_lie_in_x(*a) && !has_winograd_weights(m, node);
}

void gather_window(const Patches &g, const float *x, const Position &p, uint32_t lines, uint32_t taps, uint32_t group, float *to) {
  const AttrConv &a = *g.attr;
  const BlobWindow &w = a.window;
  const size_t line = size_t{taps} * a.in_channels;
  if (x == nullptr) {
    zero_bytes(to, lines * line * sizeof(float));
    return;
  }
  const int32_t first = window_start(w, 1, p.w), last = first + static_cast<int32_t>((taps - 1) * w.dilation[1]);
  const bool all = first >= 0 && last < static_cast<int32_t>(w.in_size[1]);
  const Taps inside = all ? Taps{0, taps} : taps_inside(w, 1, first, taps);
  const float *base = x + w.x_first + static_cast<ptrdiff_t>(group * a.in_channels) * w.x_stride[2];
  int32_t at = window_start(w, 0, p.h);
  for (uint32_t k = 0; k < lines; ++k, at += static_cast<int32_t>(w.dilation[0])) {
    if (at < 0 || at >= static_cast<int32_t>(w.in_size[0])) {
      zero_bytes(to, line * sizeof(float));
      to += line;
      continue;
    }
    const float *from = base + ptrdiff_t{at} * w.x_stride[0];
    to = g.whole_lines ? copy_taps(a, from, first, inside, taps, to) : gather_taps(a, from, first, taps, to);
  }
}

// Positions of one row share the rows that their time taps read.
void gather_patches(const RunEnv &env, const Patches &g, const ValueSlot &x, Position p, uint32_t count, uint32_t group,
                    float *to) {
  const AttrConv &a = *g.attr;
  const BlobWindow &w = a.window;
  const size_t tap_floats = tap_elems(a), depth = conv_depth(a);
  while (count != 0) {
    const uint32_t same = positions_within(w, g.short_lines ? Reach::kLine : Reach::kRow, p, count);
    Position next = p;
    for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
      const float *row = tap_row(env, a, x, p, tap);
      if (g.short_lines) {
        gather_columns(a, row, p, same, group, to + tap * tap_floats);
        continue;
      }
      next = p;
      for (uint32_t i = 0; i < same; ++i) {
        gather_window(g, row, next, w.kernel[0], w.kernel[1], group, to + i * depth + tap * tap_floats);
        next_position(w, env.batch, &next);
      }
    }
    if (g.short_lines) skip_positions(w, env.batch, same, &next);
    p = next;
    to += same * depth;
    count -= same;
  }
}

}  // namespace rnnp
