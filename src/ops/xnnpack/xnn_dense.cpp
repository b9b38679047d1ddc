// xnn_dense.cpp -- a dense node on XNNPACK: every thread owns a part of the output tiles and an operator for it.
// The activation is ours, and so is a tile of a row that does not come out finite: XNNPACK's limits make numbers of NaN.
// Touches session memory at init, the output and its pad in run. SPDX-License-Identifier: Apache-2.0
#include "ops/dense.h"
#include "ops/xnnpack/xnn_rows.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

constexpr size_t kWidestKernel = 64;   // output channels are packed in blocks of at most this many
constexpr size_t kDeepestKernel = 16;  // and input channels rounded up to at most this
constexpr float kInfinity = __builtin_inff();

// Tiles [tile_begin, tile_end), columns [begin, end) of the output; none of either where there are more threads than tiles.
struct Share {
  RNNPACK_BYTES_32(24);
  uint32_t tile_begin, tile_end, begin, end;
  void *memory;
  xnn_operator_t op;
};

struct XnnDense {
  RNNPACK_BYTES_32(92);
  XnnNode node;
  const AttrDense *attr;
  Matrix matrix;
  Share *shares;
  uint32_t threads;  // shares
};

Share share_of(const AttrDense &a, const PanelFormat &f, uint32_t threads, uint32_t thread) {
  size_t begin, end;
  split_range(panel_count(f, a.output_size), threads, thread, &begin, &end);
  const size_t first = begin * f.nr, last = end * f.nr;
  const auto column = [&](size_t c) { return c < a.output_size ? static_cast<uint32_t>(c) : a.output_size; };
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), column(first), column(last), nullptr, nullptr};
}

size_t memory_of(const AttrDense &a, const Share &s) {
  const size_t n = align_up(s.end - s.begin, kWidestKernel), k = add_sat(align_up(a.input_size, kDeepestKernel), 1);
  return s.begin == s.end ? 0 : add_sat(mul_sat(mul_sat(n, k), sizeof(float)), kXnnObjectBytes);
}

bool accepts(const OpChoice &choice, const BlobNode &node) {
  const AttrDense *a = choice.model->attr<AttrDense>(node);
  if (a == nullptr || a->groups != 1 || a->matrix >= choice.model->matrices.count) return false;
  const PanelFormat format = choice.model->matrix(a->matrix).format;
  if (format.weight != DType::kF32 || format.nr == 0 || format.index_bytes != 0) return false;
  return xnn_is_asked(choice, find_panel_kernel(choice, KernelFamily::kGemm, format));
}

rnnp_status check(const Model &m, const BlobNode &node) {
  return rnnp_op_dense.check(m, node);
}

NodeCosts costs(const Model &m, const BlobNode &node) {
  return rnnp_op_dense.costs(m, node);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrDense *a = env->model->attr<AttrDense>(node);
  const Matrix matrix = env->model->matrix(a->matrix);
  XnnNode portable;
  const rnnp_status status = build_portable(env, node, rnnp_op_dense, a->input_size, &portable);
  if (status != RNNP_OK) return status;
  XnnDense *d = env->arena->take<XnnDense>(1);
  Share *shares = env->arena->take<Share>(env->threads);
  for (uint32_t i = 0; i < env->threads; ++i) {
    Share s = share_of(*a, matrix.format, env->threads, i);
    s.memory = env->arena->take_bytes(memory_of(*a, s));
    const size_t unpacked = mul_sat(mul_sat(a->input_size, s.end - s.begin), sizeof(float));
    if (unpacked > env->scratch_bytes) env->scratch_bytes = unpacked;
    if (shares != nullptr) shares[i] = s;
  }
  *object = d;
  if (shares != nullptr) *d = {portable, a, matrix, shares, env->threads};
  return RNNP_OK;
}

// The share's rows of M, [O][I] row-major, out of the panels.
void unpack(const Matrix &m, const Share &s, float *rows) {
  const uint32_t nr = m.format.nr;
  for (uint32_t o = s.begin; o < s.end; ++o) {
    const float *panel = m.f32() + panel_elems(m.shape.k, 1, nr) * (o / nr) + o % nr;
    for (uint32_t i = 0; i < m.shape.k; ++i) *rows++ = panel[size_t{i} * nr];
  }
}

// All shares or none, so that bits do not depend on threads.
bool create(FinishEnv *env, const XnnDense &d) {
  const AttrDense &a = *d.attr;
  if (!xnn_ready()) return false;
  for (uint32_t i = 0; i < d.threads; ++i) {
    Share &s = d.shares[i];
    if (s.begin == s.end) continue;
    float *rows = static_cast<float *>(env->scratch);
    unpack(d.matrix, s, rows);
    const float *bias = a.bias == kNone ? nullptr : env->model->weights(a.bias) + s.begin;
    const XnnMemoryScope scope(s.memory, memory_of(a, s));
    xnn_operator_t op = nullptr;
    const xnn_status status = xnn_create_fully_connected_nc_f32(a.input_size, s.end - s.begin, a.input_size, a.output_size, rows,
                                                                bias, -kInfinity, kInfinity, 0, &op);
    s.op = xnn_keep(status, op, scope, env);
    if (s.op == nullptr) return false;
  }
  return true;
}

StepFn finish(FinishEnv *env, const BlobNode &node, void *object) {
  XnnDense &d = *static_cast<XnnDense *>(object);
  return finish_node(env, node, &d.node, create(env, d));
}

// Tiles that are not finite, of one row.
void mend_row(const RunEnv &env, const BlobNode &node, const XnnDense &d, const Share &s, const float *y, size_t row) {
  for (uint32_t tile = s.tile_begin; tile < s.tile_end; ++tile) {
    const uint32_t nr = d.matrix.format.nr, begin = tile * nr, end = tile + 1 < s.tile_end ? begin + nr : s.end;
    if (!all_finite(y + begin, end - begin)) dense_product(env, node, d.node.object, {row, 1, tile, tile + 1, 0});
  }
}

void run_share(const RunEnv &env, const BlobNode &node, const XnnDense &d, const Share &s, float *pad) {
  if (s.begin == s.end) return;
  const uint32_t y = env.model->node_output(node, 0);
  const float *x = row_of(env.values[env.model->node_input(node, 0)], 0);
  const size_t rows = chunk_rows(env, y);
  const XnnRows r = {x, d.attr->input_size, row_of(env.values[y], 0) + s.begin, d.attr->output_size, rows};
  const size_t done = xnn_run_rows(s.op, xnn_setup_fully_connected_nc_f32, r, pad);
  for (size_t row = 0; row < done; ++row) mend_row(env, node, d, s, row_of(env.values[y], row), row);
  if (done < rows) dense_product(env, node, d.node.object, {done, rows - done, s.tile_begin, s.tile_end, 0});
  dense_activate(env, node, d.node.object, {0, rows, s.tile_begin, s.tile_end, 0});
}

// A session of many threads also runs short calls on one: it then does every share.
void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const XnnDense &d = *static_cast<const XnnDense *>(object);
  if (!d.node.taken) {
    d.node.portable->run(env, node, d.node.object, thread);
    return;
  }
  if (!runs_in_chunk(env, env.model->node_output(node, 0))) return;
  float *pad = view_as<float>(env.scratch + thread * xnn_pad_bytes(d.attr->input_size));
  for (uint32_t i = thread; i < d.threads; i += env.threads) run_share(env, node, d, d.shares[i], pad);
}

}  // namespace

const Op rnnp_op_xnn_dense = {OpKind::kDense, accepts, check, costs, build, finish, run};

}  // namespace rnnp
