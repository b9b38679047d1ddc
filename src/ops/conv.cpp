// conv.cpp -- convolution as products: the elements under the window, one patch per position, against the panels of the gemm
// kernels. A block of patches is copied into the thread's scratch, unless they lie in x as they are (1x1, windows side by side).
// Windows that slide along the kernel's outermost axis by less than themselves overlap in one strip, which is copied once.
// Threads own positions or strips, or output tiles where those are few. Touches its output and its own state only.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/panel_product.h"
#include "ops/patches.h"

namespace rnnp {
namespace {

constexpr uint32_t kPatchBytes = 64 * 1024;  // of one block, where there are caches
constexpr uint32_t kFewestRows = 8;          // of a block: what a gemm kernel wants
constexpr uint32_t kMostConvRows = 256;
constexpr uint32_t kMostStepRows = 1u << 16;  // of the fast path

// Windows of positions next to each other along one axis, in one strip.
struct Strips {
  uint32_t positions;    // of one strip; 0: there are no strips
  uint32_t axis, other;  // along which they lie, and the other one
  uint32_t per_line;     // strips one after the other along the axis
  uint32_t tap_elems;    // from tap to tap along the axis
};

struct Conv : PanelProduct {
  RNNPACK_BYTES_32(200);
  const AttrConv *attr;
  const ValueSlot *x, *y;      // of the fast path
  ptrdiff_t x_first, y_first;  // in a row, of the same
  uint32_t depth;
  uint32_t block;                     // positions per block
  size_t patch_bytes;                 // of one thread
  size_t scratch_bytes;               // of one thread: patches, and what the product needs
  Reach reach;                        // over which x (where it is read in place) and y have even strides
  alignas(8) int64_t x_step, y_step;  // elements from one position to the next, within the reach
  bool in_place;                      // patches lie in x
  Patches patches;
  Strips strips;
};

bool accepts_conv(const OpChoice &choice, const BlobNode &node) {
  const Model &m = *choice.model;
  return !is_depthwise(m, node) && !is_nchw(m, node) && !has_taps_in_place(m, node) && !has_winograd_weights(m, node);
}

rnnp_status check_any_conv(const Model &m, const BlobNode &n) {
  const AttrConv *a = m.attr<AttrConv>(n);
  const rnnp_status status = check_conv(m, n, a);
  return status != RNNP_OK ? status : check_conv_matrix(m, *a);
}

PositionStrides x_strides(const AttrConv &a, uint32_t row_elems) {
  const BlobWindow &w = a.window;
  return {int64_t{w.stride[1]} * w.x_stride[1], int64_t{w.stride[0]} * w.x_stride[0], row_elems};
}

bool patches_lie_in_x(const AttrConv &a, const PositionStrides &x) {
  return a.time_taps == 1 && a.lead == 0 && taps_lie_in_x(a) && even_stride(a.window, x) > 0;
}

uint32_t block_rows(const BuildEnv &env, uint32_t depth, size_t positions) {
  const uint32_t rows = env.l1d_bytes == 0 ? kFewestRows : kPatchBytes / 4 / depth;
  const uint32_t even = rows < kFewestRows ? kFewestRows : rows > kMostConvRows ? kMostConvRows : rows / kFewestRows * kFewestRows;
  return positions < even ? static_cast<uint32_t>(positions) : even;
}

// Strips lie along the outermost axis on which the kernel has more than one tap, so that its elements follow each other.
Strips strips_of(const BuildEnv &env, const AttrConv &a) {
  const BlobWindow &w = a.window;
  const uint32_t axis = w.kernel[0] > 1 ? 0 : 1, other = 1 - axis, tap = a.in_channels * (axis == 0 ? w.kernel[1] : 1);
  if (a.time_taps != 1 || w.dilation[axis] != 1 || w.stride[axis] >= w.kernel[axis]) return {};
  const uint32_t taps = kPatchBytes / 4 / tap, fits = taps < w.kernel[axis] ? 0 : (taps - w.kernel[axis]) / w.stride[axis] + 1;
  const uint32_t share = w.out_size[other] < env.threads ? (w.out_size[axis] + env.threads - 1) / env.threads : w.out_size[axis];
  uint32_t most = share < kFewestRows || env.l1d_bytes == 0 ? kFewestRows : share;
  if (most > kMostConvRows) most = kMostConvRows;
  if (most > fits) most = fits;
  if (most < kFewestRows || w.out_size[axis] < kFewestRows) return {};
  const uint32_t per_line = (w.out_size[axis] + most - 1) / most;
  return {(w.out_size[axis] + per_line - 1) / per_line, axis, other, per_line, tap};
}

uint32_t strip_taps(const BlobWindow &w, uint32_t axis, uint32_t positions) {
  return (positions - 1) * w.stride[axis] + w.kernel[axis];
}

void plan_strides(const Model &m, const BlobNode &node, Conv *c) {
  const AttrConv &a = *c->attr;
  const PositionStrides x = x_strides(a, m.values[m.node_input(node, 0)].row_elems);
  const PositionStrides y = {a.window.y_stride[1], a.window.y_stride[0], m.values[m.node_output(node, 0)].row_elems};
  c->patches = patches_of(a);
  c->in_place = patches_lie_in_x(a, x);
  c->reach = even_reach(a.window, y);
  const Reach x_reach = even_reach(a.window, x);
  if (c->in_place && x_reach < c->reach) c->reach = x_reach;
  c->x_step = c->in_place ? even_stride(a.window, x) : int64_t{c->depth};
  c->y_step = even_stride(a.window, y);
}

rnnp_status build_conv(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  const Matrix matrix = m.matrix(a->matrix);
  Conv c = {};
  const rnnp_status status = find_product(*env, matrix, a->bias, a->act, a->out_channels, &c);
  if (status != RNNP_OK) return status;
  c.attr = a;
  c.depth = conv_depth(*a);
  plan_strides(m, node, &c);
  const size_t rows = m.values[m.node_output(node, 0)].sequence ? mul_sat(env->max_batch, env->chunk_steps) : env->max_batch;
  c.block = block_rows(*env, c.depth, mul_sat(rows, window_positions(a->window)));
  if (!c.in_place && !c.patches.short_lines) c.strips = strips_of(*env, *a);
  size_t gathered = c.in_place ? 0 : mul_sat(c.block, c.depth);
  if (c.strips.positions != 0) {
    c.block = c.strips.positions;
    gathered = size_t{strip_taps(a->window, c.strips.axis, c.block)} * c.strips.tap_elems;
  }
  c.patch_bytes = align_up(mul_sat(gathered, sizeof(float)), kBlobAlign);
  c.scratch_bytes = add_sat(c.patch_bytes, product_scratch_bytes(matrix.format, c.depth, c.block));
  const size_t scratch = mul_sat(c.scratch_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  Conv *kept = env->arena->take<Conv>(1);
  *object = kept;
  if (kept != nullptr) *kept = c;
  return RNNP_OK;
}

ptrdiff_t patch_in_row(const AttrConv &a, const Position &p, uint32_t group) {
  const BlobWindow &w = a.window;
  return w.x_first + ptrdiff_t{window_start(w, 0, p.h)} * w.x_stride[0] + ptrdiff_t{window_start(w, 1, p.w)} * w.x_stride[1] +
         static_cast<ptrdiff_t>(group * a.in_channels) * w.x_stride[2];
}

const float *patch_in_x(const Conv &c, const ValueSlot &x, const Position &p, uint32_t group) {
  return row_of(x, p.row) + patch_in_row(*c.attr, p, group);
}

// --- Products ----------------------------------------------------------------------------------------------------------------

void set_group(const RunEnv &env, const Conv &c, uint32_t group, GemmArgs *g) {
  if (group != 0) set_panels(&g->w, env.model->matrix(c.attr->matrix), group);
  if (g->start != nullptr) g->start += group * c.bias_elems;
}

// One group of one block: as many products as x and y have even runs of positions.
void run_group(const RunEnv &env, const Conv &c, const ValueSlot &x, const ValueSlot &y, Position p, uint32_t count, uint32_t group,
               GemmArgs g) {
  float *scratch = const_cast<float *>(g.a);
  if (!c.in_place) gather_patches(env, c.patches, x, p, count, group, scratch);
  set_group(env, c, group, &g);
  g.a_row_bytes = static_cast<size_t>(c.x_step) * sizeof(float);
  g.out_row_bytes = static_cast<size_t>(c.y_step) * sizeof(float);
  for (uint32_t done = 0; done < count; done += g.rows) {
    g.rows = positions_within(c.attr->window, c.reach, p, count - done);
    g.a = c.in_place ? patch_in_x(c, x, p, group) : scratch + size_t{done} * c.depth;
    g.out = window_output(c.attr->window, y, p) + size_t{group} * c.attr->out_channels;
    c.run(&g);
    if (c.act != nullptr) activate_product(c.act, c.attr->act, g, c.nr);
    skip_positions(c.attr->window, env.batch, g.rows, &p);
  }
}

void run_conv_positions(const RunEnv &env, const Conv &c, const ValueSlot &x, const ValueSlot &y, size_t begin, size_t end,
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

// --- Strips ------------------------------------------------------------------------------------------------------------------

// One strip from p on.
void run_strip(const RunEnv &env, const Conv &c, const ValueSlot &x, const ValueSlot &y, const Position &p, uint32_t group,
               GemmArgs g) {
  const Strips &s = c.strips;
  const BlobWindow &w = c.attr->window;
  const uint32_t taps = strip_taps(w, s.axis, g.rows);
  const uint32_t lines = s.axis == 0 ? taps : w.kernel[0], columns = s.axis == 1 ? taps : w.kernel[1];
  gather_window(c.patches, tap_row(env, *c.attr, x, p, 0), p, lines, columns, group, const_cast<float *>(g.a));
  set_group(env, c, group, &g);
  g.a_row_bytes = size_t{w.stride[s.axis]} * s.tap_elems * sizeof(float);
  g.out_row_bytes = w.y_stride[s.axis] * sizeof(float);
  g.out = window_output(w, y, p) + size_t{group} * c.attr->out_channels;
  c.run(&g);
}

// What the strips from p on have filled, `along` positions of their axis and `across` of the other, line by line.
void activate_strips(const Conv &c, const ValueSlot &y, Position p, uint32_t along, uint32_t across, GemmArgs g) {
  const BlobWindow &w = c.attr->window;
  const uint32_t lines = c.strips.axis == 0 ? along : across;
  g.rows = c.strips.axis == 0 ? across : along;
  g.out_row_bytes = w.y_stride[1] * sizeof(float);
  for (uint32_t i = 0; i < lines; ++i, ++p.h) {
    for (uint32_t group = 0; group < c.attr->groups; ++group) {
      g.out = window_output(w, y, p) + size_t{group} * c.attr->out_channels;
      activate_product(c.act, c.attr->act, g, c.nr);
    }
  }
}

// Strips are counted row by row, and within a row by the place along their axis first.
void run_strips(const RunEnv &env, const Conv &c, const ValueSlot &x, const ValueSlot &y, size_t begin, size_t end,
                const GemmArgs &common) {
  GemmArgs g = common;
  const Strips &s = c.strips;
  const BlobWindow &w = c.attr->window;
  const uint32_t across = w.out_size[s.other], per_row = across * s.per_line;
  if (g.tile_begin == g.tile_end || across == 0) return;
  while (begin < end) {
    const size_t row = begin / per_row;
    const uint32_t within = static_cast<uint32_t>(begin - row * per_row), place = within / across, first = within - place * across;
    const uint32_t count = end - begin < across - first ? static_cast<uint32_t>(end - begin) : across - first;
    const uint32_t at = place * s.positions, left = w.out_size[s.axis] - at;
    g.rows = left < s.positions ? left : s.positions;
    Position p = position_at(w, env.batch, row * window_positions(w));
    (s.axis == 0 ? p.h : p.w) = at;
    uint32_t &other = s.axis == 0 ? p.w : p.h;
    for (other = first; other < first + count; ++other) {
      for (uint32_t group = 0; group < c.attr->groups; ++group) run_strip(env, c, x, y, p, group, g);
    }
    other = first;
    if (c.act != nullptr) activate_strips(c, y, p, g.rows, count, g);
    begin += count;
  }
}

void run_conv(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Conv &c = *static_cast<const Conv *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  const bool strips = c.strips.positions != 0;
  const size_t rows = chunk_rows(env, y), least = strips ? 1 : kFewestRows;
  const size_t positions =
      rows * (strips ? c.attr->window.out_size[c.strips.other] * c.strips.per_line : window_positions(c.attr->window));
  size_t begin = 0, end = positions, first_tile = 0, last_tile = c.tiles;
  if (positions >= least * env.threads || c.tiles < env.threads) {
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
  (strips ? run_strips : run_conv_positions)(env, c, x, env.values[y], begin, end, g);
  if (c.attr->state != kNone) keep_history(env, *c.attr, x, thread);
}

// One step whose patches lie in x, evenly spaced through all rows.
void run_conv_step(void *object) {
  Conv &c = *static_cast<Conv *>(object);
  c.gemm.a = row_of(*c.x, 0) + c.x_first;
  c.gemm.out = row_of(*c.y, 0) + c.y_first;
  c.run(&c.gemm);
  if (c.act != nullptr) activate_product(c.act, c.attr->act, c.gemm, c.nr);
}

StepFn finish_conv(FinishEnv *env, const BlobNode &node, void *object) {
  Conv &c = *static_cast<Conv *>(object);
  const uint32_t y = env->model->node_output(node, 0);
  const uint64_t positions = uint64_t{env->max_batch} * window_positions(c.attr->window);
  if (!c.in_place || c.reach != Reach::kAll || c.attr->groups != 1 || env->threads != 1 || positions > kMostStepRows)
    return nullptr;
  if (!env->model->values[y].sequence || c.scratch_bytes != 0) return nullptr;
  c.x = &env->values[env->model->node_input(node, 0)];
  c.y = &env->values[y];
  c.x_first = patch_in_row(*c.attr, {}, 0);
  c.y_first = static_cast<ptrdiff_t>(c.attr->window.y_first);
  c.gemm.a_row_bytes = static_cast<size_t>(c.x_step) * sizeof(float);
  c.gemm.out_row_bytes = static_cast<size_t>(c.y_step) * sizeof(float);
  c.gemm.rows = static_cast<uint32_t>(positions);
  c.gemm.tile_begin = 0;
  c.gemm.tile_end = c.tiles;
  return run_conv_step;
}

}  // namespace

RNNPACK_OP(conv, {OpKind::kConv, accepts_conv, check_any_conv, conv_costs, build_conv, finish_conv, run_conv});

}  // namespace rnnp
