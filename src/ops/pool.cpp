// pool.cpp -- largest element or mean under a window over feature axes; elements are taken in the window's order, a tap of a line's
// positions at a time.
// Touches its output only. Threads own positions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/inlining.h"
#include "ops/four_floats.h"
#include "ops/window.h"

namespace rnnp {
namespace {

constexpr uint32_t kManyChannels = 8;

rnnp_status check_pool(const Model &m, const BlobNode &node) {
  const AttrPool *a = m.attr<AttrPool>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || !is_f32_value(m, x, 0) || !is_f32_value(m, y, 0) || is_const(m, x) ||
      m.values[x].sequence != m.values[y].sequence) {
    return RNNP_E_BLOB_CORRUPT;
  }
  if (a->pool > uint32_t(Pool::kAverage) ||
      !window_fits(a->window, a->channels, a->channels, m.values[x].row_elems, m.values[y].row_elems)) {
    return RNNP_E_BLOB_CORRUPT;
  }
  for (int i = 0; i < 2; ++i) {
    if (a->counted_before[i] > kWindowMost || a->counted_after[i] > kWindowMost) return RNNP_E_BLOB_CORRUPT;
  }
  return RNNP_OK;
}

NodeCosts costs_pool(const Model &m, const BlobNode &node) {
  const BlobWindow &w = m.attr<AttrPool>(node)->window;
  return element_costs(m, node, uint64_t{w.kernel[0]} * w.kernel[1]);
}

// Taps of one axis that the mean counts: inside x or its counted surroundings.
uint32_t counted_taps(const AttrPool &a, int axis, int32_t start) {
  BlobWindow wide = a.window;
  wide.in_size[axis] += a.counted_before[axis] + a.counted_after[axis];
  const Taps taps = taps_inside(wide, axis, start + static_cast<int32_t>(a.counted_before[axis]));
  return taps.end - taps.begin;
}

// Two channels that lie side by side, on any float: a template would forget that such a type may lie there.
typedef float Pair __attribute__((vector_size(8)));

// NaN stays. Two choices of which none is a guess: the first is an instruction, the second always goes one way.
template <class T>
RNNPACK_INLINE T larger_of(T a, T b) {
  const T larger = b > a ? b : a;
  return b != b ? b : larger;
}

// What becomes of y with the elements of one tap, or with those of the first two, `apart` elements from each other.
struct Largest {
  template <class T>
  static RNNPACK_INLINE void into(float *y, const float *x, const float *) {
    store_as(y, larger_of(load_as<T>(y), load_as<T>(x)));
  }
};
struct Add {
  template <class T>
  static RNNPACK_INLINE void into(float *y, const float *x, const float *) {
    store_as(y, load_as<T>(y) + load_as<T>(x));
  }
};
struct LargestOfTwo {
  template <class T>
  static RNNPACK_INLINE void into(float *y, const float *x, const float *next) {
    store_as(y, larger_of(load_as<T>(x), load_as<T>(next)));
  }
};
// Two axes of elements.
struct Plane {
  uint32_t count[2];
  ptrdiff_t x_step[2], y_step[2];
  bool pairs;
};

template <class Op>
constexpr bool kIsOfTwo = false;
template <>
constexpr bool kIsOfTwo<LargestOfTwo> = true;

// Windows of two side by side, of two channels: two of them at a time. Returns how many it took.
#if RNNPACK_FOUR_FLOATS
RNNPACK_INLINE size_t two_windows_each(size_t count, const float *x, float *y) {
  size_t i = 0;
  for (; i + 2 <= count; i += 2, x += 8, y += 4) {
    const FourFloats one = load_four(x), other = load_four(x + 4);
    store_four(y, larger_of(RNNPACK_FOUR_OF(one, other, 0, 1, 4, 5), RNNPACK_FOUR_OF(one, other, 2, 3, 6, 7)));
  }
  return i;
}
#else
RNNPACK_INLINE size_t two_windows_each(size_t, const float *, float *) {
  return 0;
}
#endif

template <class Op, class T>
RNNPACK_INLINE void each_of_line(size_t count, const float *x, ptrdiff_t x_step, ptrdiff_t apart, float *y, ptrdiff_t y_step) {
  size_t i = 0;
  if (kIsOfTwo<Op> && sizeof(T) == sizeof(Pair) && x_step == 4 && apart == 2 && y_step == 2) {
    i = two_windows_each(count, x, y);
    x += 4 * i;
    y += 2 * i;
  }
  for (; i < count; ++i, x += x_step, y += y_step) Op::template into<T>(y, x, x + apart);
}

template <class Op>
void each(const Plane &p, const float *x, ptrdiff_t apart, float *y) {
  for (uint32_t o = 0; o < p.count[0]; ++o, x += p.x_step[0], y += p.y_step[0]) {
    if (p.pairs) {
      each_of_line<Op, Pair>(p.count[1], x, p.x_step[1], apart, y, p.y_step[1]);
    } else if (p.x_step[1] == 1 && p.y_step[1] == 1) {
      each_of_line<Op, float>(p.count[1], x, 1, apart, y, 1);
    } else {
      each_of_line<Op, float>(p.count[1], x, p.x_step[1], apart, y, p.y_step[1]);
    }
  }
}

// Inside is what makes vectors, else what is longer.
Plane pooled_plane(const AttrPool &a, uint32_t positions) {
  const BlobWindow &w = a.window;
  const ptrdiff_t x_step = ptrdiff_t{w.x_stride[1]} * static_cast<ptrdiff_t>(w.stride[1]);
  const ptrdiff_t y_step = static_cast<ptrdiff_t>(w.y_stride[1]), channel_step = w.x_stride[2];
  const bool side_by_side = channel_step == 1;
  if (a.channels >= positions || (side_by_side && a.channels >= kManyChannels))
    return {{positions, a.channels}, {x_step, channel_step}, {y_step, 1}, false};
  const bool pairs = side_by_side && a.channels % 2 == 0;
  const ptrdiff_t wide = pairs ? 2 : 1;
  return {{a.channels / (pairs ? 2 : 1), positions}, {channel_step * wide, x_step}, {wide, y_step}, pairs};
}

// Of `count` positions, of which the first one's tap lies at `at`, those [begin, end) whose tap lies in x.
Taps positions_inside(const BlobWindow &w, int32_t at, uint32_t count) {
  const int32_t size = static_cast<int32_t>(w.in_size[1]), stride = static_cast<int32_t>(w.stride[1]);
  const uint32_t begin = at < 0 ? static_cast<uint32_t>((-at + stride - 1) / stride) : 0;
  const uint32_t end = at < size ? static_cast<uint32_t>((size - 1 - at) / stride + 1) : 0;
  const uint32_t last = end < count ? end : count;
  return {begin < last ? begin : last, last};
}

// The fold of no elements.
void fill(const AttrPool &a, uint32_t count, float *y) {
  const float nothing = a.pool == uint32_t(Pool::kMax) ? -__builtin_inff() : 0.0f;
  for (uint32_t n = 0; n < count; ++n, y += a.window.y_stride[1]) {
    for (uint32_t c = 0; c < a.channels; ++c) y[c] = nothing;
  }
}

// One line of x under the windows of some positions.
struct Line {
  const float *x;
  int32_t at;  // of the first position's first tap
  uint32_t count;
  float *y;
};

template <class Op>
void each_inside(const AttrPool &a, const Line &line, uint32_t tap, const Taps &inside) {
  const BlobWindow &w = a.window;
  const int32_t at = line.at + static_cast<int32_t>(tap * w.dilation[1] + inside.begin * w.stride[1]);
  each<Op>(pooled_plane(a, inside.end - inside.begin), line.x + ptrdiff_t{at} * w.x_stride[1],
           static_cast<ptrdiff_t>(w.dilation[1]) * w.x_stride[1], line.y + size_t{inside.begin} * w.y_stride[1]);
}

// Begins the results. Returns how many taps of the first line that were: two where all positions have both.
uint32_t begin_line(const AttrPool &a, const Line &line) {
  const BlobWindow &w = a.window;
  const Taps both[2] = {positions_inside(w, line.at, line.count),
                        positions_inside(w, line.at + static_cast<int32_t>(w.dilation[1]), line.count)};
  const bool whole = both[0].begin == 0 && both[0].end == line.count && both[1].begin == 0 && both[1].end == line.count;
  if (whole && w.kernel[1] > 1 && a.pool == uint32_t(Pool::kMax)) {
    each_inside<LargestOfTwo>(a, line, 0, both[0]);
    return 2;
  }
  fill(a, line.count, line.y);
  return 0;
}

// Where tap 0 of the last position lies.
int32_t last_start(const BlobWindow &w, const Line &line) {
  return line.at + static_cast<int32_t>((line.count - 1) * w.stride[1]);
}

void take_line(const AttrPool &a, const Line &line, bool first) {
  const BlobWindow &w = a.window;
  const bool largest = a.pool == uint32_t(Pool::kMax);
  const uint32_t taken = first ? begin_line(a, line) : 0, begin = taps_inside(w, 1, last_start(w, line)).begin;
  const uint32_t end = taps_inside(w, 1, line.at).end;
  for (uint32_t tap = taken > begin ? taken : begin; tap < end; ++tap) {
    const Taps inside = positions_inside(w, line.at + static_cast<int32_t>(tap * w.dilation[1]), line.count);
    if (inside.begin == inside.end) continue;
    largest ? each_inside<Largest>(a, line, tap, inside) : each_inside<Add>(a, line, tap, inside);
  }
}

// `count` positions of one line of y.
void run_line(const AttrPool &a, const float *x, const Position &p, uint32_t count, float *y) {
  const BlobWindow &w = a.window;
  const int32_t h_start = window_start(w, 0, p.h), w_start = window_start(w, 1, p.w);
  const Taps h = taps_inside(w, 0, h_start);
  if (h.begin == h.end) fill(a, count, y);
  for (uint32_t i = h.begin; i < h.end; ++i) {
    const float *line = x + w.x_first + ptrdiff_t{h_start + static_cast<int32_t>(i * w.dilation[0])} * w.x_stride[0];
    take_line(a, {line, w_start, count, y}, i == h.begin);
  }
  if (a.pool == uint32_t(Pool::kMax)) return;
  const float lines = static_cast<float>(counted_taps(a, 0, h_start));
  for (uint32_t n = 0; n < count; ++n) {
    const float taps = lines * static_cast<float>(counted_taps(a, 1, w_start + static_cast<int32_t>(n * w.stride[1])));
    for (uint32_t c = 0; c < a.channels; ++c) y[size_t{n} * w.y_stride[1] + c] /= taps;
  }
}

void run_pool(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrPool &a = **static_cast<const AttrPool *const *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y) * window_positions(a.window), env.threads, thread, &begin, &end);
  if (begin == end) return;
  Position p = position_at(a.window, env.batch, begin);
  while (begin < end) {
    const uint32_t line = a.window.out_size[1] - p.w, count = end - begin < line ? static_cast<uint32_t>(end - begin) : line;
    run_line(a, row_of(env.values[env.model->node_input(node, 0)], p.row), p, count, window_output(a.window, env.values[y], p));
    begin += count;
    p.w += count - 1;
    next_position(a.window, env.batch, &p);
  }
}

}  // namespace

RNNPACK_OP(pool, {OpKind::kPool, nullptr, check_pool, costs_pool, keep_attr<AttrPool>, nullptr, run_pool});

}  // namespace rnnp
