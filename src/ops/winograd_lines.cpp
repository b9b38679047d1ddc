// winograd_lines.cpp -- Contract: winograd_lines.h, docs/KERNELS.md. Each step's line of x is transformed by itself, so nothing
// depends on where a chunk begins; the products of a point run over time taps and channels. Threads own blocks of steps and of
// pairs of columns. Touches its output and its own state only. SPDX-License-Identifier: Apache-2.0
#include "ops/winograd_lines.h"

#include "base/bytes.h"
#include "kernels/inlining.h"
#include "ops/four_floats.h"
#include "ops/panel_product.h"
#include "pack/winograd.h"

namespace rnnp {
namespace {

constexpr uint32_t kBlockRows = 48;  // of a product: their points and sums stay in L2
constexpr uint32_t kEvenRows = 6;    // the rows of a block of sums where registers are many
constexpr uint32_t kApart = 16;      // floats between points: at a power of two they would share the places of a cache

struct WinogradLines : PanelProduct {
  RNNPACK_BYTES_32(128);
  const AttrConv *attr;
  const float *zeros;    // the channels of a column that is not there
  uint32_t pairs;        // of columns of y
  size_t sums_at;        // floats of scratch before the sums
  size_t scratch_bytes;  // of one thread
};

// Steps [step, step + steps) of a batch row, and some pairs of columns of them.
struct Block {
  uint32_t batch_row, step, steps, pair, pairs;
};

// Of the lines of x under the steps of a block.
uint32_t lines_of(const AttrConv &a, uint32_t steps) {
  return steps + a.time_taps - 1;
}

// --- Points ------------------------------------------------------------------------------------------------------------------

// kStep: the floats of T.
template <class T, uint32_t kStep>
RNNPACK_INLINE uint32_t put_points(const float *const (&x)[4], uint32_t i, uint32_t channels, float *to, size_t point_step) {
  const float *first = x[0], *second = x[1], *third = x[2], *fourth = x[3];
  float *to_second = to + point_step, *to_third = to_second + point_step, *to_fourth = to_third + point_step;
  for (; i + kStep <= channels; i += kStep) {
    const T a = load_as<T>(first + i), b = load_as<T>(second + i), c = load_as<T>(third + i), d = load_as<T>(fourth + i);
    store_as(to + i, a - c);
    store_as(to_second + i, b + c);
    store_as(to_third + i, c - b);
    store_as(to_fourth + i, b - d);
  }
  return i;
}

// Four columns of x, of `channels`.
RNNPACK_NOINLINE void put_points(const float *const (&x)[4], uint32_t channels, float *to, size_t point_step) {
  uint32_t i = 0;
#if RNNPACK_FOUR_FLOATS
  i = put_points<FourFloats, 4>(x, i, channels, to, point_step);
#endif
  put_points<float, 1>(x, i, channels, to, point_step);
}

// What the next block of these steps reads: columns from `column` on. Lines lie too far apart for a CPU to find them by itself.
// Inlined: GCC leaves out calls of what only fetches.
RNNPACK_INLINE void fetch_columns(const BlobWindow &w, const float *row, uint32_t channels, int64_t column, uint32_t count) {
  constexpr uint32_t kLine = 16;
  for (uint32_t k = 0; k < count && column + k < int64_t{w.in_size[1]}; ++k) {
    const float *from = row + w.x_first + static_cast<ptrdiff_t>(column + k) * w.x_stride[1];
    for (uint32_t i = 0; i < channels; i += kLine) __builtin_prefetch(from + i);
  }
}

// [pair][line][channel] of each point.
void make_points(const RunEnv &env, const WinogradLines &c, const ValueSlot &x, const Block &b, float *points, size_t point_step) {
  const AttrConv &a = *c.attr;
  const BlobWindow &w = a.window;
  const uint32_t lines = lines_of(a, b.steps);
  for (uint32_t line = 0; line < lines; ++line) {
    const uint32_t step = line < b.steps ? line : b.steps - 1;
    const float *row = tap_row(env, a, x, {0, b.step + step, b.batch_row, 0, 0}, line - step);
    int64_t column = 2 * int64_t{b.pair} - w.pad[1];
    float *to = points + size_t{line} * a.in_channels;
    for (uint32_t i = 0; i < b.pairs; ++i, column += 2, to += size_t{lines} * a.in_channels) {
      const float *four[4];
      for (int k = 0; k < 4; ++k) {
        const int64_t at = column + k;
        const bool there = row != nullptr && at >= 0 && at < int64_t{w.in_size[1]};
        four[k] = there ? row + w.x_first + static_cast<ptrdiff_t>(at) * w.x_stride[1] : c.zeros;
      }
      put_points(four, a.in_channels, to, point_step);
    }
    if (row != nullptr && column >= 0) fetch_columns(w, row, a.in_channels, column + 2, 2 * b.pairs);
  }
}

// --- Products and results ----------------------------------------------------------------------------------------------------

// [pair][step][unit] of each point. A product has steps or pairs as its rows, whichever are more.
void make_sums(const RunEnv &env, const WinogradLines &c, const Block &b, const float *points, size_t point_step, float *sums) {
  const AttrConv &a = *c.attr;
  const Matrix matrix = env.model->matrix(a.matrix);
  const size_t line = size_t{a.in_channels}, pair = lines_of(a, b.steps) * line, units = a.out_channels;
  const bool by_steps = b.steps >= b.pairs;
  const size_t sums_step = units * b.steps * b.pairs + kApart;
  GemmArgs g = c.gemm;
  g.rows = by_steps ? b.steps : b.pairs;
  g.a_row_bytes = (by_steps ? line : pair) * sizeof(float);
  g.out_row_bytes = (by_steps ? units : units * b.steps) * sizeof(float);
  g.tile_begin = 0;
  g.tile_end = c.tiles;
  for (uint32_t p = 0; p < kLinePoints; ++p, points += point_step, sums += sums_step) {
    set_panels(&g.w, matrix, p);
    g.start = p == kLineStart && c.gemm.start != nullptr ? c.gemm.start + p * c.bias_elems : nullptr;
    g.a = points;
    g.out = sums;
    for (uint32_t i = 0; i < (by_steps ? b.pairs : b.steps); ++i) {
      c.run(&g);
      g.a += by_steps ? pair : line;
      g.out += by_steps ? units * b.steps : units;
    }
  }
}

// `second` may be y where there is none.
template <class T, uint32_t kStep>
RNNPACK_INLINE uint32_t put_results(const float *sums, size_t step, uint32_t i, uint32_t units, float *y, float *second) {
  const float *next = sums + step, *third = next + step, *fourth = third + step;
  for (; i + kStep <= units; i += kStep) {
    const T a = load_as<T>(sums + i), b = load_as<T>(next + i), c = load_as<T>(third + i), d = load_as<T>(fourth + i);
    store_as(second + i, b - c - d);
    store_as(y + i, a + b + c);
  }
  return i;
}

RNNPACK_NOINLINE void put_results(const float *sums, size_t step, uint32_t units, float *y, float *second) {
  uint32_t i = 0;
#if RNNPACK_FOUR_FLOATS
  i = put_results<FourFloats, 4>(sums, step, i, units, y, second);
#endif
  put_results<float, 1>(sums, step, i, units, y, second);
}

void make_results(const RunEnv &env, const WinogradLines &c, const ValueSlot &y, const Block &b, const float *sums) {
  const AttrConv &a = *c.attr;
  const BlobWindow &w = a.window;
  const uint32_t units = a.out_channels, first = 2 * b.pair, last = first + 2 * b.pairs;
  const uint32_t columns = (last < w.out_size[1] ? last : w.out_size[1]) - first;
  const size_t sums_step = size_t{units} * b.steps * b.pairs + kApart, column = w.y_stride[1];
  for (uint32_t s = 0; s < b.steps; ++s) {
    float *made = row_of(y, (size_t{b.step} + s) * env.batch + b.batch_row) + w.y_first + first * column;
    for (uint32_t k = 0; k < columns; k += 2) {
      const float *from = sums + (size_t{k / 2} * b.steps + s) * units;
      float *to = made + k * column;
      put_results(from, sums_step, units, to, k + 1 < columns ? to + column : to);
    }
    if (c.act == nullptr) continue;
    const bool solid = column == units;
    for (uint32_t k = 0; k < (solid ? 1 : columns); ++k) {
      const ActArgs act = {made + k * column, made + k * column, solid ? size_t{columns} * units : units, a.act};
      c.act(&act);
    }
  }
}

void run_lines(const RunEnv &env, const WinogradLines &c, const ValueSlot &x, const ValueSlot &y, const Block &b, float *scratch) {
  const size_t point_step = size_t{b.pairs} * lines_of(*c.attr, b.steps) * c.attr->in_channels + kApart;
  float *sums = scratch + c.sums_at;
  make_points(env, c, x, b, scratch, point_step);
  make_sums(env, c, b, scratch, point_step, sums);
  make_results(env, c, y, b, sums);
}

uint32_t even_part(uint32_t count, uint32_t most) {
  const uint32_t parts = (count + most - 1) / most;
  return (count + parts - 1) / parts;
}

}  // namespace

rnnp_status check_winograd_lines(const Model &m, const AttrConv &a) {
  const BlobWindow &w = a.window;
  if (w.in_size[0] != 1 || w.out_size[0] != 1 || w.pad[0] != 0 || w.stride[1] != 1 || w.dilation[1] != 1 || w.x_stride[2] != 1)
    return RNNP_E_BLOB_CORRUPT;
  if (a.time_taps != 1 && a.time_dilation != 1) return RNNP_E_BLOB_CORRUPT;
  if (!m.has_matrix(a.matrix, 1, a.out_channels, a.time_taps * a.in_channels, kLinePoints)) return RNNP_E_BLOB_CORRUPT;
  const PanelFormat &format = m.matrix(a.matrix).format;
  if (format.weight != DType::kF32 || format.nr == 0 || is_sparse(format)) return RNNP_E_BLOB_CORRUPT;
  return a.bias == kNone || m.vector_fits(a.bias, m.matrix(a.matrix), 1) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build_winograd_lines(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  WinogradLines c = {};
  const rnnp_status status = find_product(*env, m.matrix(a->matrix), a->bias, a->act, a->out_channels, &c);
  if (status != RNNP_OK) return status;
  c.attr = a;
  c.pairs = (a->window.out_size[1] + 1) / 2;
  const uint32_t most = c.pairs < kBlockRows ? c.pairs : kBlockRows;
  const size_t lines = add_sat(kBlockRows, mul_sat(most, a->time_taps - 1));
  c.sums_at = mul_sat(add_sat(mul_sat(lines, a->in_channels), kApart), kLinePoints);
  const size_t floats = add_sat(c.sums_at, mul_sat(add_sat(mul_sat(a->out_channels, kBlockRows), kApart), kLinePoints));
  c.scratch_bytes = align_up(mul_sat(floats, sizeof(float)), kBlobAlign);
  const size_t scratch = mul_sat(c.scratch_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  float *zeros = env->arena->take<float>(a->in_channels);
  WinogradLines *kept = env->arena->take<WinogradLines>(1);
  *object = kept;
  if (kept == nullptr || zeros == nullptr) return RNNP_OK;
  zero_bytes(zeros, a->in_channels * sizeof(float));
  c.zeros = zeros;
  *kept = c;
  return RNNP_OK;
}

void run_winograd_lines(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const WinogradLines &c = *static_cast<const WinogradLines *>(object);
  const AttrConv &a = *c.attr;
  const uint32_t value = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, value)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)], &y = env.values[value];
  const uint32_t steps = env.model->values[value].sequence ? env.steps : 1;
  if (steps == 0) return;
  const uint32_t high = (even_part(steps, kBlockRows) + kEvenRows - 1) / kEvenRows * kEvenRows, per_row = (steps + high - 1) / high;
  uint32_t wide = kBlockRows / high < c.pairs ? kBlockRows / high : c.pairs;
  if (size_t{per_row} * env.batch < env.threads) wide = even_part(wide, (c.pairs + env.threads - 1) / env.threads);
  const uint32_t across = (c.pairs + wide - 1) / wide;
  float *scratch = view_as<float>(env.scratch + thread * c.scratch_bytes);
  size_t begin, end;
  split_range(size_t{env.batch} * per_row * across, env.threads, thread, &begin, &end);
  for (; begin < end; ++begin) {
    const size_t in_row = begin / across;
    Block b;
    b.pair = static_cast<uint32_t>(begin - in_row * across) * wide;
    b.pairs = c.pairs - b.pair < wide ? c.pairs - b.pair : wide;
    b.batch_row = static_cast<uint32_t>(in_row / per_row);
    b.step = static_cast<uint32_t>(in_row - size_t{b.batch_row} * per_row) * high;
    const uint32_t last = steps - b.step < high ? steps : b.step + high, live = live_steps(env, b.batch_row);
    // A step behind the end of its row sees no other (conv_history.cpp).
    for (; b.step < last; b.step += b.steps) {
      b.steps = reads_ahead(a) ? last - b.step : b.step >= live ? 1 : (live < last ? live : last) - b.step;
      run_lines(env, c, x, y, b, scratch);
    }
  }
  if (a.state != kNone) keep_history(env, a, x, thread);
}

}  // namespace rnnp
