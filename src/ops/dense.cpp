// dense.cpp -- y = act(x * M^T + b) on our GEMM kernels; threads own output tiles.
// Touches its output only. The activation runs on the columns just computed, while they are in L1.
// SPDX-License-Identifier: Apache-2.0
#include "ops/dense.h"

#include "ops/panel_product.h"
#include "ops/share_tiles.h"

namespace rnnp {
namespace {

constexpr size_t kMostVectors = 1u << 30;  // of one product: a count of rows has 32 bits

struct Dense : PanelProduct {
  RNNPACK_BYTES_32(128);
  const ValueSlot *x, *y;  // of the fast path
  const AttrDense *attr;
  uint32_t matrices;
  size_t scratch_bytes;  // of one thread
};

rnnp_status check_dense(const Model &m, const BlobNode &n) {
  const AttrDense *a = m.attr<AttrDense>(n);
  if (a == nullptr || a->matrix >= m.matrices.count || a->groups == 0) return RNNP_E_BLOB_CORRUPT;
  const Matrix matrix = m.matrix(a->matrix);
  if (!m.has_matrix(a->matrix, 1, a->output_size, a->input_size, matrix.count) || a->groups % matrix.count != 0)
    return RNNP_E_BLOB_CORRUPT;
  if (matrix.format.nr == 0) return RNNP_E_LAYOUT;
  const uint64_t in = uint64_t{a->input_size} * a->groups, out = uint64_t{a->output_size} * a->groups;
  const uint32_t x = m.node_input(n, 0), y = m.node_output(n, 0);
  if (in > UINT32_MAX || out > UINT32_MAX || !is_f32_value(m, x, uint32_t(in)) || !is_f32_value(m, y, uint32_t(out)))
    return RNNP_E_BLOB_CORRUPT;
  if (m.values[x].sequence != m.values[y].sequence || ValueKind(m.values[x].kind) == ValueKind::kConst) return RNNP_E_BLOB_CORRUPT;
  if (a->bias != kNone && !m.vector_fits(a->bias, matrix, 1)) return RNNP_E_BLOB_CORRUPT;
  return a->act.act <= uint32_t(Act::kCeil) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

NodeCosts costs_dense(const Model &m, const BlobNode &node) {
  return element_costs(m, node, m.attr<AttrDense>(node)->input_size);
}

rnnp_status build_dense(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrDense *a = m.attr<AttrDense>(node);
  const Matrix matrix = m.matrix(a->matrix);
  PanelProduct product;
  const rnnp_status status = find_product(*env, matrix, a->bias, a->act, a->output_size, &product);
  if (status != RNNP_OK) return status;
  const size_t steps = m.values[m.node_output(node, 0)].sequence ? env->chunk_steps : 1;
  const size_t rows = mul_sat(mul_sat(env->max_batch, a->groups), steps);
  const size_t thread_scratch = product_scratch_bytes(matrix.format, a->input_size, rows);
  const size_t scratch = mul_sat(thread_scratch, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  Dense *d = env->arena->take<Dense>(1);
  *object = d;
  if (d == nullptr) return RNNP_OK;
  *d = {};
  d->attr = a;
  static_cast<PanelProduct &>(*d) = product;
  d->matrices = matrix.count;
  d->scratch_bytes = thread_scratch;
  return RNNP_OK;
}

void activate(const Dense &d, const GemmArgs &g) {
  activate_product(d.act, d.attr->act, g, d.nr);
}

void run_single(void *object) {
  Dense &d = *static_cast<Dense *>(object);
  d.gemm.a = static_cast<const float *>(d.x->data);
  d.gemm.out = static_cast<float *>(d.y->data);
  d.run(&d.gemm);
  if (d.act != nullptr) activate(d, d.gemm);
}

StepFn finish_dense(FinishEnv *env, const BlobNode &node, void *object) {
  Dense &d = *static_cast<Dense *>(object);
  const AttrDense &a = *d.attr;
  const uint32_t y = env->model->node_output(node, 0);
  const uint64_t vectors = uint64_t{env->max_batch} * a.groups;
  if (d.matrices != 1 || env->threads != 1 || !env->model->values[y].sequence || vectors > kMostVectors) return nullptr;
  d.x = &env->values[env->model->node_input(node, 0)];
  d.y = &env->values[y];
  d.gemm.a_row_bytes = a.input_size * sizeof(float);
  d.gemm.out_row_bytes = a.output_size * sizeof(float);
  d.gemm.rows = static_cast<uint32_t>(vectors);
  d.gemm.tile_begin = 0;
  d.gemm.tile_end = d.tiles;
  d.gemm.scratch = env->scratch;
  return run_single;
}

// The tiles of the part, and of what is left of it as much as a product can count.
GemmArgs part_args(const RunEnv &env, const Dense &d, const DensePart &part, size_t done) {
  const size_t left = part.count - done;
  GemmArgs g = d.gemm;
  g.scratch = env.scratch + part.thread * d.scratch_bytes;
  g.tile_begin = part.tile_begin;
  g.tile_end = part.tile_end;
  g.rows = static_cast<uint32_t>(left < kMostVectors ? left : kMostVectors);
  return g;
}

template <class Fn>
void for_each_block(const RunEnv &env, const BlobNode &node, const Dense &d, const DensePart &part, Fn fn) {
  const AttrDense &a = *d.attr;
  const float *x = row_of(env.values[env.model->node_input(node, 0)], 0) + part.first * a.input_size;
  float *y = row_of(env.values[env.model->node_output(node, 0)], 0) + part.first * a.output_size;
  for (size_t done = 0; done < part.count;) {
    GemmArgs g = part_args(env, d, part, done);
    g.a_row_bytes = a.input_size * sizeof(float);
    g.out_row_bytes = a.output_size * sizeof(float);
    g.a = x + done * a.input_size;
    g.out = y + done * a.output_size;
    fn(g);
    done += g.rows;
  }
}

// Vector by vector of all rows, each through the matrix of its group.
void run_matrices(const RunEnv &env, const BlobNode &node, const Dense &d, const DensePart &rows) {
  const AttrDense &a = *d.attr;
  const uint32_t each = a.groups / d.matrices;
  const Matrix matrix = env.model->matrix(a.matrix);
  const ValueSlot &x = env.values[env.model->node_input(node, 0)], &y = env.values[env.model->node_output(node, 0)];
  for (size_t done = 0; done < rows.count;) {
    GemmArgs g = part_args(env, d, rows, done);
    g.a = row_of(x, done);
    g.out = row_of(y, done);
    g.a_row_bytes = x.row_bytes;
    g.out_row_bytes = y.row_bytes;
    for (uint32_t v = 0; v < a.groups; ++v) {
      d.run(&g);
      if (d.act != nullptr) activate(d, g);
      g.a += a.input_size;
      g.out += a.output_size;
      if ((v + 1) % each != 0 || v + 1 == a.groups) continue;
      set_panels(&g.w, matrix, (v + 1) / each);
      if (g.start != nullptr) g.start += d.bias_elems;
    }
    done += g.rows;
  }
}

void run_dense(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Dense &d = *static_cast<const Dense *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  const GemmArgs *const product = &d.gemm;
  share_tiles(&product, 1, d.tiles, env.threads, thread, &begin, &end);
  if (begin == end) return;
  const size_t rows = chunk_rows(env, y);
  const DensePart part = {0, rows, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), thread};
  if (d.matrices != 1) {
    run_matrices(env, node, d, part);
    return;
  }
  const DensePart vectors = {0, rows * d.attr->groups, part.tile_begin, part.tile_end, thread};
  for_each_block(env, node, d, vectors, [&](const GemmArgs &g) {
    d.run(&g);
    if (d.act != nullptr) activate(d, g);
  });
}

}  // namespace

void dense_product(const RunEnv &env, const BlobNode &node, const void *object, const DensePart &part) {
  const Dense &d = *static_cast<const Dense *>(object);
  for_each_block(env, node, d, part, [&](const GemmArgs &g) { d.run(&g); });
}

void dense_activate(const RunEnv &env, const BlobNode &node, const void *object, const DensePart &part) {
  const Dense &d = *static_cast<const Dense *>(object);
  if (d.act == nullptr) return;
  for_each_block(env, node, d, part, [&](const GemmArgs &g) { activate(d, g); });
}

RNNPACK_OP(dense, {OpKind::kDense, nullptr, check_dense, costs_dense, build_dense, finish_dense, run_dense});

}  // namespace rnnp
