// conv_winograd.cpp -- 3x3 convolution of planes whose weights the compiler has transformed for F(2x2, 3x3): 16 products in the
// place of 36 for four results. Threads own lines of tiles of rows. Touches its output only. Where x's channels lie side by side:
// winograd_lines.h. SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "kernels/winograd_block.h"
#include "ops/winograd_lines.h"

namespace rnnp {
namespace {

struct ConvWinograd {
  RNNPACK_BYTES_32(96);
  const AttrConv *attr;
  ConvWinogradArgs args;
  ConvWinogradFn run;
  ActFn act;
  uint32_t tile_lines;
  size_t scratch_bytes;  // of one thread
};

// So that the points of a block's tiles can be counted everywhere.
constexpr uint32_t kMostChannels = kWindowMost / (kWinogradPoints * kWinogradTiles);

bool accepts_winograd(const OpChoice &choice, const BlobNode &node) {
  return has_winograd_weights(*choice.model, node);
}

bool windows_fit(const BlobWindow &w) {
  for (int axis = 0; axis < 2; ++axis) {
    if (w.stride[axis] != 1 || w.dilation[axis] != 1) return false;
  }
  return w.x_stride[1] == 1;
}

rnnp_status check_winograd(const Model &m, const BlobNode &n) {
  const AttrConv *a = m.attr<AttrConv>(n);
  const rnnp_status status = check_conv(m, n, a);
  if (status != RNNP_OK) return status;
  if (a->y_plane == 0) return check_winograd_lines(m, *a);
  if (!windows_fit(a->window) || a->in_channels > kMostChannels) return RNNP_E_BLOB_CORRUPT;
  return check_planes(m, *a, kWinogradPoints * a->in_channels);
}

// A product of a point counts for four results, of lines for two.
NodeCosts costs_winograd(const Model &m, const BlobNode &node) {
  const AttrConv &a = *m.attr<AttrConv>(node);
  if (a.y_plane == 0) return element_costs(m, node, kLinePoints / 2 * uint64_t{a.time_taps} * a.in_channels);
  return element_costs(m, node, kWinogradPoints / 4 * a.in_channels);
}

rnnp_status build_winograd(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  if (a->y_plane == 0) return build_winograd_lines(env, node, object);
  const Matrix matrix = m.matrix(a->matrix);
  const Kernel *kernel = find_kernel(*env->kernels, KernelFamily::kConvWinograd, DType::kF32, 0, env->isa);
  ActFn act = nullptr;
  if (kernel == nullptr || !find_act_behind(*env, a->act, &act)) return RNNP_E_LAYOUT;
  const BlobWindow &w = a->window;
  ConvWinograd c = {};
  c.attr = a;
  c.run = kernel->conv_winograd;
  c.act = act;
  c.tile_lines = (w.out_size[0] + 1) / 2;
  c.args.x_channel = w.x_stride[2];
  c.args.x_line = w.x_stride[0];
  c.args.x_lines = w.in_size[0];
  c.args.x_columns = w.in_size[1];
  c.args.channels = a->in_channels;
  c.args.pad[0] = w.pad[0];
  c.args.pad[1] = w.pad[1];
  c.args.panels = matrix.f32();
  c.args.start = m.weights_or_none(a->bias);
  c.args.y_plane = a->y_plane;
  c.args.y_lines = w.out_size[0];
  c.args.y_columns = w.out_size[1];
  c.args.units = a->out_channels;
  c.args.nr = matrix.format.nr;
  c.scratch_bytes = align_up(mul_sat(winograd_scratch(a->in_channels, matrix.format.nr), sizeof(float)), kBlobAlign);
  const size_t scratch = mul_sat(c.scratch_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  ConvWinograd *kept = env->arena->take<ConvWinograd>(1);
  *object = kept;
  if (kept != nullptr) *kept = c;
  return RNNP_OK;
}

// The activation of lines of tiles in all planes.
void activate_lines(const ConvWinograd &c, const ConvWinogradArgs &made) {
  const uint32_t first = 2 * made.line_begin, last = 2 * made.line_end < made.y_lines ? 2 * made.line_end : made.y_lines;
  float *y = made.y + size_t{first} * made.y_columns;
  for (uint32_t u = 0; u < made.units; ++u, y += made.y_plane) {
    const ActArgs act = {y, y, size_t{last - first} * made.y_columns, c.attr->act};
    c.act(&act);
  }
}

void run_winograd(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  if (env.model->attr<AttrConv>(node)->y_plane == 0) return run_winograd_lines(env, node, object, thread);
  const ConvWinograd &c = *static_cast<const ConvWinograd *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  ConvWinogradArgs args = c.args;
  args.scratch = view_as<float>(env.scratch + thread * c.scratch_bytes);
  size_t begin, end;
  split_range(chunk_rows(env, y) * c.tile_lines, env.threads, thread, &begin, &end);
  while (begin < end) {
    const size_t row = begin / c.tile_lines, first = begin - row * c.tile_lines;
    const size_t count = end - begin < c.tile_lines - first ? end - begin : c.tile_lines - first;
    args.line_begin = static_cast<uint32_t>(first);
    args.line_end = static_cast<uint32_t>(first + count);
    args.x = row_of(x, row) + c.attr->window.x_first;
    args.y = row_of(env.values[y], row) + c.attr->window.y_first;
    c.run(&args);
    if (c.act != nullptr) activate_lines(c, args);
    begin += count;
  }
}

}  // namespace

RNNPACK_OP(conv_winograd, {OpKind::kConv, accepts_winograd, check_winograd, costs_winograd, build_winograd, nullptr, run_winograd});

}  // namespace rnnp
