// dense.cpp -- y = act(x * M^T + b) on our own GEMM kernels, or XNNPACK's where it is asked; threads own output tiles.
// Touches its output only. The activation runs on the columns just computed, while they are in L1.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/op.h"
#include "ops/xnnpack.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

// What one thread owns: tiles [begin, end), and XNNPACK's operator on those columns where there is one.
struct DenseShare {
  uint32_t tile_begin, tile_end;
  XnnReserve reserve;
  XnnOperator *xnn;
};

struct Dense {
  const ValueSlot *x, *y;  // of the short road
  GemmArgs gemm;
  GemmFn run;
  ActFn act;
  BlobActivation act_args;
  uint32_t output_size, nr, groups, tiles, threads;
  const AttrDense *attr;
  DenseShare *shares;  // one per thread
};

rnnp_status check(const Model &m, const BlobNode &n, const AttrDense *a) {
  if (a == nullptr || a->input_size == 0 || a->output_size == 0 || a->groups == 0) return RNNP_E_BLOB_CORRUPT;
  if (a->matrices == 0 || a->groups % a->matrices != 0) return RNNP_E_BLOB_CORRUPT;
  if (!layout_nr_is_known(a->nr) || a->dtype != uint32_t(DType::kF32)) return RNNP_E_LAYOUT;
  const uint64_t in = uint64_t{a->input_size} * a->groups, out = uint64_t{a->output_size} * a->groups;
  const uint32_t x = m.node_input(n, 0), y = m.node_output(n, 0);
  if (in > UINT32_MAX || out > UINT32_MAX || !is_f32_value(m, x, uint32_t(in)) || !is_f32_value(m, y, uint32_t(out)))
    return RNNP_E_BLOB_CORRUPT;
  if (m.values[x].sequence != m.values[y].sequence || ValueKind(m.values[x].kind) == ValueKind::kConst) return RNNP_E_BLOB_CORRUPT;
  const uint64_t matrix = matrix_elems(a->output_size, a->input_size, 1, a->nr), vector = vector_elems(a->output_size, 1, a->nr);
  if (matrix > UINT32_MAX || !m.weights_fit(a->w, matrix * a->matrices)) return RNNP_E_BLOB_CORRUPT;
  if (a->bias != kNone && !m.weights_fit(a->bias, vector * a->matrices)) return RNNP_E_BLOB_CORRUPT;
  return a->act.act <= uint32_t(Act::kCeil) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

DensePart part_of(const AttrDense &a, uint32_t tile_begin, uint32_t tile_end) {
  if (tile_begin == tile_end) return {&a, 0, 0};  // a thread beyond the tiles
  const uint32_t end = tile_end * a.nr;
  return {&a, tile_begin * a.nr, end < a.output_size ? end : a.output_size};
}

void build_shares(BuildEnv *env, const AttrDense &a, const Kernel &gemm, DenseShare *shares) {
  for (uint32_t i = 0; i < env->threads; ++i) {
    size_t begin, end;
    split_range(tile_count(a.output_size, a.nr), env->threads, i, &begin, &end);
    const DensePart part = part_of(a, static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
    const XnnReserve reserve = a.matrices == 1 ? reserve_xnn(env, gemm, xnn_dense_bytes(part)) : XnnReserve{nullptr, 0};
    const size_t scratch = reserve.bytes != 0 ? xnn_dense_scratch_bytes(part) : 0;
    if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
    if (shares != nullptr) shares[i] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), reserve, nullptr};
  }
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrDense *a = m.attr<AttrDense>(node);
  const rnnp_status status = check(m, node, a);
  if (status != RNNP_OK) return status;
  const Kernel *gemm = find_kernel(*env->kernels, KernelFamily::kGemm, DType::kF32, a->nr, env->isa);
  const bool activated = a->act.act != uint32_t(Act::kIdentity);
  const Kernel *act = activated ? find_act(*env, a->act) : nullptr;
  if (gemm == nullptr || (activated && act == nullptr)) return RNNP_E_LAYOUT;
  Dense *d = env->arena->take<Dense>(1);
  DenseShare *shares = env->arena->take<DenseShare>(env->threads);
  build_shares(env, *a, *gemm, shares);
  *object = d;
  if (shares == nullptr) return RNNP_OK;
  *d = {};
  d->attr = a;
  d->shares = shares;
  d->threads = env->threads;
  d->run = gemm->gemm;
  d->act = act ? act->act : nullptr;
  d->act_args = a->act;
  d->output_size = a->output_size;
  d->nr = a->nr;
  d->groups = a->groups;
  d->tiles = tile_count(a->output_size, a->nr);
  d->gemm.panels = m.weights(a->w);
  d->gemm.bias = a->bias == kNone ? nullptr : m.weights(a->bias);
  d->gemm.k = a->input_size;
  d->gemm.gates = 1;
  d->gemm.units = a->output_size;
  return RNNP_OK;
}

void activate(const Dense &d, const GemmArgs &g) {
  const uint32_t begin = g.tile_begin * d.nr;
  const uint32_t end = g.tile_end * d.nr < d.output_size ? g.tile_end * d.nr : d.output_size;
  for (uint32_t row = 0; row < g.rows; ++row) {
    float *y = view_as<float>(reinterpret_cast<uint8_t *>(g.out) + row * g.out_row_bytes) + begin;
    const ActArgs args = {y, y, end - begin, d.act_args};
    d.act(&args);
  }
}

void run_single(void *object) {
  Dense &d = *static_cast<Dense *>(object);
  d.gemm.a = static_cast<const float *>(d.x->data);
  d.gemm.out = static_cast<float *>(d.y->data);
  d.run(&d.gemm);
  if (d.act != nullptr) activate(d, d.gemm);
}

// Vector by vector, each through the matrix of its group. `g` has the tiles and the first vector of the first row.
void run_matrices(const Dense &d, GemmArgs g) {
  const AttrDense &a = *d.attr;
  const uint32_t each = a.groups / a.matrices, padded = d.tiles * a.nr;
  for (uint32_t v = 0; v < a.groups; ++v) {
    d.run(&g);
    if (d.act != nullptr) activate(d, g);
    g.a += a.input_size;
    g.out += a.output_size;
    if ((v + 1) % each != 0) continue;
    g.panels += size_t{padded} * a.input_size;
    if (g.bias != nullptr) g.bias += padded;
  }
}

void create_shares(FinishEnv *env, const Dense &d) {
  for (uint32_t i = 0; i < d.threads; ++i) {
    DenseShare &s = d.shares[i];
    if (s.reserve.bytes == 0) continue;
    const DensePart part = part_of(*d.attr, s.tile_begin, s.tile_end);
    s.xnn = xnn_dense_create(*env->model, part, s.reserve.memory, s.reserve.bytes, env->scratch, &env->xnnpack_refused);
    env->xnnpack_count += s.xnn != nullptr;
  }
}

StepFn finish(FinishEnv *env, const BlobNode &node, void *object) {
  Dense &d = *static_cast<Dense *>(object);
  const uint32_t y = env->model->node_output(node, 0);
  create_shares(env, d);
  if (d.attr->matrices != 1 || env->threads != 1 || !env->model->values[y].sequence) return nullptr;
  for (uint32_t i = 0; i < d.threads; ++i) {
    if (d.shares[i].xnn != nullptr) return nullptr;
  }
  d.x = &env->values[env->model->node_input(node, 0)];
  d.y = &env->values[y];
  d.gemm.a_row_bytes = d.x->row_bytes / d.groups;
  d.gemm.out_row_bytes = d.y->row_bytes / d.groups;
  d.gemm.rows = env->max_batch * d.groups;
  d.gemm.tile_begin = 0;
  d.gemm.tile_end = d.tiles;
  return run_single;
}

void run_share(const RunEnv &env, const Dense &d, const DenseShare &share, uint32_t x, uint32_t y, size_t rows) {
  if (share.tile_begin == share.tile_end) return;
  if (share.xnn != nullptr) {
    xnn_dense_run(share.xnn, row_of(env.values[x], 0), row_of(env.values[y], 0) + size_t{share.tile_begin} * d.nr, rows * d.groups);
    return;
  }
  GemmArgs g = d.gemm;
  g.tile_begin = share.tile_begin;
  g.tile_end = share.tile_end;
  g.a = row_of(env.values[x], 0);
  g.out = row_of(env.values[y], 0);
  if (d.attr->matrices != 1) {
    g.rows = static_cast<uint32_t>(rows);
    g.a_row_bytes = env.values[x].row_bytes;
    g.out_row_bytes = env.values[y].row_bytes;
    run_matrices(d, g);
    return;
  }
  g.rows = static_cast<uint32_t>(rows * d.groups);
  g.a_row_bytes = env.values[x].row_bytes / d.groups;
  g.out_row_bytes = env.values[y].row_bytes / d.groups;
  d.run(&g);
  if (d.act != nullptr) activate(d, g);
}

// A session of many threads also runs short calls on one: it then does every share.
void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Dense &d = *static_cast<const Dense *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const size_t rows = chunk_rows(env, y);
  for (uint32_t i = thread; i < d.threads; i += env.threads) run_share(env, d, d.shares[i], x, y, rows);
}

}  // namespace

const Op rnnp_op_dense = {OpKind::kDense, build, finish, run};

}  // namespace rnnp
