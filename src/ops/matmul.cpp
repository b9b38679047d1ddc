// matmul.cpp -- batched products of two operands that are both made at run time, within a row; threads own rows.
// y[batch][m][n] = sum over k of a[batch][m][k] b[batch][k][n]. Touches its output only. The kernel's order of additions is fixed
// by the node's sizes and strides (kernels.h), so no cut of a run shows. SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"
#include "ops/strides.h"

namespace rnnp {
namespace {

bool product_fits(const Model &m, uint32_t operand, uint32_t y, const AttrMatMul &t, const MatrixStrides &s, uint32_t rows,
                  uint32_t columns) {
  if (!is_f32_operand(m, operand, y)) return false;
  const uint32_t dims[2] = {rows, columns}, elems = m.values[operand].row_elems;
  const int32_t stride[2] = {s.row, s.column};
  int64_t low = s.first, high = s.first;
  return widen_reach(t.rank, t.dims, s.batch, &low, &high) && widen_reach(2, dims, stride, &low, &high) && low >= 0 &&
         high < int64_t{elems};
}

rnnp_status check_matmul(const Model &m, const BlobNode &node) {
  const AttrMatMul *t = m.attr<AttrMatMul>(node);
  const uint32_t y = m.node_output(node, 0);
  uint64_t batch, matrix;
  if (t == nullptr || !dims_fit(t->rank, t->dims, &batch)) return RNNP_E_BLOB_CORRUPT;
  const uint32_t sizes[2] = {t->m, t->n};
  if (!dims_fit(2, sizes, &matrix) || t->k == 0 || t->k > INT32_MAX || batch * matrix > UINT32_MAX ||
      !is_f32_value(m, y, uint32_t(batch * matrix)))
    return RNNP_E_BLOB_CORRUPT;
  const uint32_t a = m.node_input(node, 0), b = m.node_input(node, 1);
  if (!product_fits(m, a, y, *t, t->a, t->m, t->k) || !product_fits(m, b, y, *t, t->b, t->k, t->n)) return RNNP_E_BLOB_CORRUPT;
  if (t->k > m.values[a].row_elems || t->k > m.values[b].row_elems) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

struct MatMul {
  RNNPACK_BYTES_32(8);
  const AttrMatMul *attr;
  MatMulFn run;
};

NodeCosts costs_matmul(const Model &m, const BlobNode &node) {
  return element_costs(m, node, m.attr<AttrMatMul>(node)->k);
}

rnnp_status build_matmul(BuildEnv *env, const BlobNode &node, void **object) {
  const Kernel *kernel = find_kernel(*env->kernels, KernelFamily::kMatMul, DType::kF32, 0, env->isa);
  if (kernel == nullptr) return RNNP_E_LAYOUT;
  MatMul *kept = env->arena->take<MatMul>(1);
  *object = kept;
  if (kept != nullptr) *kept = {env->model->attr<AttrMatMul>(node), kernel->matmul};
  return RNNP_OK;
}

void run_matmul(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const MatMul &product = *static_cast<const MatMul *>(object);
  const AttrMatMul &t = *product.attr;
  const uint32_t a = env.model->node_input(node, 0), b = env.model->node_input(node, 1), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const float *from_a = operand_row(env, a, y, row), *from_b = operand_row(env, b, y, row);
    float *to = row_of(env.values[y], row);
    Walk at_a(t.rank, t.dims, t.a.batch, static_cast<ptrdiff_t>(t.a.first));
    Walk at_b(t.rank, t.dims, t.b.batch, static_cast<ptrdiff_t>(t.b.first));
    do {
      const MatMulArgs args = {from_a + at_a.at, from_b + at_b.at, to, t.a.row, t.a.column, t.b.row, t.b.column, t.m, t.n, t.k};
      product.run(&args);
      to += size_t{t.m} * t.n;
      at_b.next();
    } while (at_a.next());
  }
}

}  // namespace

RNNPACK_OP(matmul, {OpKind::kMatMul, nullptr, check_matmul, costs_matmul, build_matmul, nullptr, run_matmul});

}  // namespace rnnp
