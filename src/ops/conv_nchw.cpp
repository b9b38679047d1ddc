// conv_nchw.cpp -- convolution whose result lies channel by channel, each a plane of lines: what reads and makes such rows need
// not be transposed. x is copied into lines with the padding's zeros around them; the kernel's taps are places in that copy.
// Threads own units of rows. Touches its output only.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/conv_history.h"

namespace rnnp {
namespace {

constexpr uint32_t kUnitsPerShare = 8;

struct ConvNchw {
  RNNPACK_BYTES_32(140);
  const AttrConv *attr;
  ConvNchwArgs args;
  ConvNchwFn run;
  ActFn act;
  uint32_t lines, columns;  // of x's copy
  uint32_t *taps;
  ptrdiff_t x_first;
  size_t copy_bytes;  // of one thread
};

bool accepts_nchw(const OpChoice &choice, const BlobNode &node) {
  return is_nchw(*choice.model, node) && !has_winograd_weights(*choice.model, node);
}

// Elements from the first to the last that windows of so many results reach over.
uint32_t reach(const BlobWindow &w, int axis) {
  return (w.out_size[axis] - 1) * w.stride[axis] + (w.kernel[axis] - 1) * w.dilation[axis] + 1;
}

rnnp_status check_nchw(const Model &m, const BlobNode &n) {
  const AttrConv *a = m.attr<AttrConv>(n);
  const rnnp_status status = check_conv(m, n, a);
  if (status != RNNP_OK) return status;
  const BlobWindow &w = a->window;
  const uint64_t copied = uint64_t{reach(w, 0)} * reach(w, 1);
  if (copied > kWindowMost / a->in_channels || w.stride[1] != 1) return RNNP_E_BLOB_CORRUPT;
  return check_planes(m, *a, conv_depth(*a));
}

// Where x's lines lie in those with the padding's zeros: what is behind one and before the next is one stretch of zeros.
void place_lines(ConvNchw *c) {
  BlobWindow w = c->attr->window;
  w.dilation[0] = w.dilation[1] = 1;
  const Taps h = taps_inside(w, 0, -w.pad[0], c->lines), v = taps_inside(w, 1, -w.pad[1], c->columns);
  PlaneLines &from = c->args.from;
  from = {nullptr, w.x_stride[2], w.x_stride[0], w.x_stride[1], c->attr->in_channels, h.end - h.begin, v.end - v.begin, 0, 0, 0, 0};
  from.before = h.begin * c->columns + v.begin;
  from.between = c->columns - from.columns;
  from.after = (c->lines - h.end) * c->columns + c->columns - v.end;
  if (from.lines == 0) from.before = c->lines * c->columns, from.after = 0;
  c->x_first = w.x_first + ptrdiff_t{w.x_stride[0]} * (static_cast<ptrdiff_t>(h.begin) - w.pad[0]) +
               ptrdiff_t{w.x_stride[1]} * (static_cast<ptrdiff_t>(v.begin) - w.pad[1]);
}

void place_plane_taps(ConvNchw *c) {
  const AttrConv &a = *c->attr;
  const BlobWindow &w = a.window;
  uint32_t *to = c->taps;
  for (uint32_t h = 0; h < w.kernel[0]; ++h) {
    for (uint32_t k = 0; k < w.kernel[1]; ++k) {
      for (uint32_t i = 0; i < a.in_channels; ++i) *to++ = (i * c->lines + h * w.dilation[0]) * c->columns + k * w.dilation[1];
    }
  }
}

rnnp_status build_nchw(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  const Matrix matrix = m.matrix(a->matrix);
  const Kernel *kernel = find_kernel(*env->kernels, KernelFamily::kConvNchw, DType::kF32, 0, env->isa);
  ActFn act = nullptr;
  if (kernel == nullptr || !find_act_behind(*env, a->act, &act)) return RNNP_E_LAYOUT;
  ConvNchw c = {};
  c.attr = a;
  c.run = kernel->conv_nchw;
  c.act = act;
  c.lines = reach(a->window, 0);
  c.columns = reach(a->window, 1);
  c.copy_bytes = align_up((size_t{c.lines} * c.columns * a->in_channels + kPlaneSlack) * sizeof(float), kBlobAlign);
  const size_t scratch = mul_sat(c.copy_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  c.taps = env->arena->take<uint32_t>(conv_depth(*a));
  ConvNchw *kept = env->arena->take<ConvNchw>(1);
  *object = kept;
  if (kept == nullptr || c.taps == nullptr) return RNNP_OK;
  c.args.taps = c.taps;
  c.args.panels = matrix.f32();
  c.args.start = m.weights_or_none(a->bias);
  c.args.line_step = size_t{c.columns} * a->window.stride[0];
  c.args.y_plane = a->y_plane;
  c.args.k = conv_depth(*a);
  c.args.y_lines = a->window.out_size[0];
  c.args.y_columns = a->window.out_size[1];
  c.args.nr = matrix.format.nr;
  place_lines(&c);
  place_plane_taps(&c);
  *kept = c;
  return RNNP_OK;
}

void run_nchw(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const ConvNchw &c = *static_cast<const ConvNchw *>(object);
  const AttrConv &a = *c.attr;
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  const uint32_t shares = (a.out_channels + kUnitsPerShare - 1) / kUnitsPerShare;
  ConvNchwArgs args = c.args;
  args.lines = view_as<float>(env.scratch + thread * c.copy_bytes);
  size_t begin, end;
  split_range(chunk_rows(env, y) * shares, env.threads, thread, &begin, &end);
  while (begin < end) {
    const size_t row = begin / shares, first = begin - row * shares;
    const size_t count = end - begin < shares - first ? end - begin : shares - first;
    args.unit_begin = static_cast<uint32_t>(first) * kUnitsPerShare;
    args.unit_end = static_cast<uint32_t>(first + count) * kUnitsPerShare;
    if (args.unit_end > a.out_channels) args.unit_end = a.out_channels;
    args.y = row_of(env.values[y], row) + a.window.y_first;
    args.from.x = row_of(x, row) + c.x_first;
    c.run(&args);
    if (c.act != nullptr) {
      float *made = args.y + size_t{args.unit_begin} * a.y_plane;
      const ActArgs act = {made, made, size_t{args.unit_end - args.unit_begin} * a.y_plane, a.act};
      c.act(&act);
    }
    begin += count;
  }
}

}  // namespace

RNNPACK_OP(conv_nchw, {OpKind::kConv, accepts_nchw, check_nchw, conv_costs, build_nchw, nullptr, run_nchw});

}  // namespace rnnp
