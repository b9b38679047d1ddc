// conv.cpp -- convolution as products: the elements under the window, one patch per position, against the panels of the gemm
// kernels. A block of patches is copied into the thread's scratch, unless they lie in x as they are (1x1, windows side by side).
// Threads own positions, or output tiles where positions are few. Touches its output and its own state only.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/conv_history.h"
#include "ops/panel_product.h"

namespace rnnp {
namespace {

constexpr uint32_t kPatchBytes = 64 * 1024;  // of one block, where there are caches
constexpr uint32_t kFewestRows = 8;          // of a block: what a gemm kernel wants
constexpr uint32_t kMostRows = 256;
constexpr uint32_t kFewChannels = 4;
constexpr uint32_t kShortLine = 16;

struct Conv {
  const AttrConv *attr;
  GemmArgs gemm;  // of group 0; a, out, rows and tiles are set per call
  GemmFn run;
  ActFn act;
  size_t bias_elems;  // from group to group
  uint32_t tiles, nr, depth;
  uint32_t block;          // positions per block
  size_t patch_bytes;      // of one thread
  size_t scratch_bytes;    // of one thread: patches, and what the product needs
  Reach reach;             // over which x (where it is read in place) and y have even strides
  int64_t x_step, y_step;  // elements from one position to the next, within the reach
  bool in_place;           // patches lie in x
  bool short_lines;        // a window's line is a few elements of few channels: gathered tap by tap
  bool whole_lines;        // a window's taps along w and their channels lie side by side
};

bool accepts(const OpChoice &choice, const BlobNode &node) {
  return !is_depthwise(*choice.model, node);
}

rnnp_status check(const Model &m, const BlobNode &n) {
  const AttrConv *a = m.attr<AttrConv>(n);
  const rnnp_status status = check_conv(m, n, a);
  if (status != RNNP_OK) return status;
  if (!m.has_matrix(a->matrix, 1, a->out_channels, conv_depth(*a), a->groups)) return RNNP_E_BLOB_CORRUPT;
  return a->bias == kNone || m.vector_fits(a->bias, m.matrix(a->matrix), 1) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

bool window_is_inside(const BlobWindow &w, int axis) {
  const int64_t last = int64_t{w.out_size[axis] - 1} * w.stride[axis] + int64_t{w.kernel[axis] - 1} * w.dilation[axis];
  return w.pad[axis] <= 0 && last - w.pad[axis] < int64_t{w.in_size[axis]};
}

// The elements under one line of the window, [kernel w][channels], have stride 1.
bool lines_are_whole(const AttrConv &a) {
  const BlobWindow &w = a.window;
  if (a.in_channels > 1 && w.x_stride[2] != 1) return false;
  return w.kernel[1] == 1 || int64_t{w.dilation[1]} * w.x_stride[1] == int64_t{a.in_channels};
}

PositionStrides x_strides(const AttrConv &a, uint32_t row_elems) {
  const BlobWindow &w = a.window;
  return {int64_t{w.stride[1]} * w.x_stride[1], int64_t{w.stride[0]} * w.x_stride[0], row_elems};
}

bool patches_lie_in_x(const AttrConv &a, const PositionStrides &x) {
  const BlobWindow &w = a.window;
  if (a.time_taps != 1 || a.lead != 0 || !window_is_inside(w, 0) || !window_is_inside(w, 1) || !lines_are_whole(a)) return false;
  if (w.kernel[0] > 1 && int64_t{w.dilation[0]} * w.x_stride[0] != int64_t{w.kernel[1]} * a.in_channels) return false;
  return even_stride(w, x) > 0;
}

uint32_t block_rows(const BuildEnv &env, uint32_t depth, size_t positions) {
  const uint32_t rows = env.l1d_bytes == 0 ? kFewestRows : kPatchBytes / 4 / depth;
  const uint32_t even = rows < kFewestRows ? kFewestRows : rows > kMostRows ? kMostRows : rows / kFewestRows * kFewestRows;
  return positions < even ? static_cast<uint32_t>(positions) : even;
}

void plan_strides(const Model &m, const BlobNode &node, Conv *c) {
  const AttrConv &a = *c->attr;
  const PositionStrides x = x_strides(a, m.values[m.node_input(node, 0)].row_elems);
  const PositionStrides y = {a.window.y_stride[1], a.window.y_stride[0], m.values[m.node_output(node, 0)].row_elems};
  c->in_place = patches_lie_in_x(a, x);
  c->whole_lines = lines_are_whole(a);
  c->short_lines = a.in_channels <= kFewChannels && a.window.kernel[1] <= kShortLine / a.in_channels;
  c->reach = even_reach(a.window, y);
  const Reach x_reach = even_reach(a.window, x);
  if (c->in_place && x_reach < c->reach) c->reach = x_reach;
  c->x_step = c->in_place ? even_stride(a.window, x) : int64_t{c->depth};
  c->y_step = even_stride(a.window, y);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  const Matrix matrix = m.matrix(a->matrix);
  const Kernel *gemm = find_gemm(*env, matrix.format, 1);
  const bool activated = a->act.act != uint32_t(Act::kIdentity);
  const Kernel *act = activated ? find_act(*env, a->act) : nullptr;
  if (gemm == nullptr || (activated && act == nullptr)) return RNNP_E_LAYOUT;
  Conv c = {};
  c.attr = a;
  c.run = gemm->gemm;
  c.act = act ? act->act : nullptr;
  c.depth = conv_depth(*a);
  c.nr = matrix.format.nr;
  c.tiles = panel_count(matrix.format, a->out_channels);
  c.bias_elems = vector_bytes(matrix.format, matrix.shape) / sizeof(float);
  set_product(&c.gemm, matrix);
  c.gemm.start = m.weights_or_none(a->bias);
  c.gemm.units = a->out_channels;
  plan_strides(m, node, &c);
  const size_t rows = m.values[m.node_output(node, 0)].sequence ? mul_sat(env->max_batch, env->chunk_steps) : env->max_batch;
  c.block = block_rows(*env, c.depth, mul_sat(rows, window_positions(a->window)));
  c.patch_bytes = c.in_place ? 0 : align_up(mul_sat(mul_sat(c.block, c.depth), sizeof(float)), kBlobAlign);
  c.scratch_bytes = add_sat(c.patch_bytes, factor_scratch_bytes(matrix.format, c.depth, c.block));
  const size_t scratch = mul_sat(c.scratch_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  Conv *kept = env->arena->take<Conv>(1);
  *object = kept;
  if (kept != nullptr) *kept = c;
  return RNNP_OK;
}

// --- Patches -----------------------------------------------------------------------------------------------------------------

// One line of the window, [kernel w][channels], tap by tap. x: its group's first channel at w 0.
float *gather_line(const Conv &c, const float *x, int32_t start, float *to) {
  const AttrConv &a = *c.attr;
  const BlobWindow &w = a.window;
  for (uint32_t k = 0; k < w.kernel[1]; ++k, to += a.in_channels) {
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

// The window of one time tap. x: the row, or nullptr for zeros.
void gather_window(const Conv &c, const float *x, const Position &p, uint32_t group, float *to) {
  const AttrConv &a = *c.attr;
  const BlobWindow &w = a.window;
  const size_t line = size_t{w.kernel[1]} * a.in_channels;
  if (x == nullptr) {
    zero_bytes(to, w.kernel[0] * line * sizeof(float));
    return;
  }
  const int32_t first = window_start(w, 1, p.w);
  const bool inside =
      first >= 0 && first + static_cast<int32_t>((w.kernel[1] - 1) * w.dilation[1]) < static_cast<int32_t>(w.in_size[1]);
  const float *base = x + w.x_first + static_cast<ptrdiff_t>(group * a.in_channels) * w.x_stride[2];
  for (uint32_t k = 0; k < w.kernel[0]; ++k) {
    const int32_t at = window_start(w, 0, p.h) + static_cast<int32_t>(k * w.dilation[0]);
    if (at < 0 || at >= static_cast<int32_t>(w.in_size[0])) {
      zero_bytes(to, line * sizeof(float));
      to += line;
      continue;
    }
    const float *from = base + ptrdiff_t{at} * w.x_stride[0];
    if (!inside || !c.whole_lines) {
      to = gather_line(c, from, first, to);
      continue;
    }
    copy_bytes(to, from + ptrdiff_t{first} * w.x_stride[1], line * sizeof(float));
    to += line;
  }
}

// The windows of `count` positions of one line, tap by tap.
void gather_columns(const Conv &c, const float *x, const Position &p, uint32_t count, uint32_t group, float *to) {
  const AttrConv &a = *c.attr;
  const BlobWindow &w = a.window;
  for (uint32_t k = 0; k < w.kernel[0]; ++k) {
    const int32_t at = window_start(w, 0, p.h) + static_cast<int32_t>(k * w.dilation[0]);
    const bool inside = x != nullptr && at >= 0 && at < static_cast<int32_t>(w.in_size[0]);
    for (uint32_t i = 0; i < w.kernel[1] * a.in_channels; ++i, ++to) {
      const uint32_t tap = i / a.in_channels, channel = group * a.in_channels + i % a.in_channels;
      const float *from =
          inside ? x + w.x_first + ptrdiff_t{at} * w.x_stride[0] + static_cast<ptrdiff_t>(channel) * w.x_stride[2] : nullptr;
      int32_t column = window_start(w, 1, p.w) + static_cast<int32_t>(tap * w.dilation[1]);
      for (uint32_t n = 0; n < count; ++n, column += static_cast<int32_t>(w.stride[1])) {
        const bool there = inside && column >= 0 && column < static_cast<int32_t>(w.in_size[1]);
        to[size_t{n} * c.depth] = there ? from[ptrdiff_t{column} * w.x_stride[1]] : 0.0f;
      }
    }
  }
}

// Positions of one row share the rows that their time taps read.
void gather_block(const RunEnv &env, const Conv &c, const ValueSlot &x, Position p, uint32_t count, uint32_t group, float *to) {
  const AttrConv &a = *c.attr;
  const size_t tap_elems = size_t{a.window.kernel[0]} * a.window.kernel[1] * a.in_channels;
  while (count != 0) {
    const uint32_t same = positions_within(a.window, c.short_lines ? Reach::kLine : Reach::kRow, p, count);
    Position next = p;
    for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
      const float *row = tap_row(env, a, x, p, tap);
      if (c.short_lines) {
        gather_columns(c, row, p, same, group, to + tap * tap_elems);
        continue;
      }
      next = p;
      for (uint32_t i = 0; i < same; ++i) {
        gather_window(c, row, next, group, to + size_t{i} * c.depth + tap * tap_elems);
        next_position(a.window, env.batch, &next);
      }
    }
    if (c.short_lines) {
      skip_positions(a.window, env.batch, same, &next);
    }
    p = next;
    to += size_t{same} * c.depth;
    count -= same;
  }
}

const float *patch_in_x(const Conv &c, const ValueSlot &x, const Position &p, uint32_t group) {
  const BlobWindow &w = c.attr->window;
  return row_of(x, p.row) + w.x_first + ptrdiff_t{window_start(w, 0, p.h)} * w.x_stride[0] +
         ptrdiff_t{window_start(w, 1, p.w)} * w.x_stride[1] + static_cast<ptrdiff_t>(group * c.attr->in_channels) * w.x_stride[2];
}

// --- Products ----------------------------------------------------------------------------------------------------------------

void activate(const Conv &c, const GemmArgs &g) {
  const uint32_t nr = c.nr, units = c.attr->out_channels;
  const uint32_t begin = g.tile_begin * nr, end = g.tile_end * nr < units ? g.tile_end * nr : units;
  const bool solid = begin == 0 && end == units && g.out_row_bytes == units * sizeof(float);
  const uint32_t runs = solid ? 1 : g.rows;
  const size_t elems = solid ? size_t{g.rows} * units : end - begin;
  for (uint32_t i = 0; i < runs; ++i) {
    float *y = view_as<float>(reinterpret_cast<uint8_t *>(g.out) + i * g.out_row_bytes) + begin;
    const ActArgs args = {y, y, elems, c.attr->act};
    c.act(&args);
  }
}

// One group of one block: as many products as x and y have even runs of positions.
void run_group(const RunEnv &env, const Conv &c, const ValueSlot &x, const ValueSlot &y, Position p, uint32_t count, uint32_t group,
               GemmArgs g) {
  float *scratch = const_cast<float *>(g.a);
  if (!c.in_place) gather_block(env, c, x, p, count, group, scratch);
  if (group != 0) set_panels(&g, env.model->matrix(c.attr->matrix), group);
  if (g.start != nullptr) g.start += group * c.bias_elems;
  g.a_row_bytes = static_cast<size_t>(c.x_step) * sizeof(float);
  g.out_row_bytes = static_cast<size_t>(c.y_step) * sizeof(float);
  for (uint32_t done = 0; done < count; done += g.rows) {
    g.rows = positions_within(c.attr->window, c.reach, p, count - done);
    g.a = c.in_place ? patch_in_x(c, x, p, group) : scratch + size_t{done} * c.depth;
    g.out = window_output(c.attr->window, y, p) + size_t{group} * c.attr->out_channels;
    c.run(&g);
    if (c.act != nullptr) activate(c, g);
    skip_positions(c.attr->window, env.batch, g.rows, &p);
  }
}

void run_positions(const RunEnv &env, const Conv &c, const ValueSlot &x, const ValueSlot &y, size_t begin, size_t end,
                   const GemmArgs &g) {
  if (begin == end || g.tile_begin == g.tile_end) return;
  Position p = position_at(c.attr->window, env.batch, begin);
  while (begin < end) {
    const uint32_t count = end - begin < c.block ? static_cast<uint32_t>(end - begin) : c.block;
    for (uint32_t group = 0; group < c.attr->groups; ++group) run_group(env, c, x, y, p, count, group, g);
    skip_positions(c.attr->window, env.batch, count, &p);
    begin += count;
  }
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Conv &c = *static_cast<const Conv *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  const size_t positions = chunk_rows(env, y) * window_positions(c.attr->window);
  size_t begin = 0, end = positions, first_tile = 0, last_tile = c.tiles;
  if (positions >= size_t{kFewestRows} * env.threads || c.tiles < env.threads) {
    split_range(positions, env.threads, thread, &begin, &end);
  } else {
    split_range(c.tiles, env.threads, thread, &first_tile, &last_tile);
  }
  GemmArgs g = c.gemm;
  uint8_t *scratch = env.scratch + thread * c.scratch_bytes;
  g.a = view_as<float>(scratch);
  g.scratch = scratch + c.patch_bytes;
  g.tile_begin = static_cast<uint32_t>(first_tile);
  g.tile_end = static_cast<uint32_t>(last_tile);
  run_positions(env, c, x, env.values[y], begin, end, g);
  if (c.attr->state != kNone) keep_history(env, *c.attr, x, thread);
}

}  // namespace

RNNPACK_OP(conv, {OpKind::kConv, accepts, check, conv_costs, build, nullptr, run});

}  // namespace rnnp
