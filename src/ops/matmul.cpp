// matmul.cpp -- batched products of two operands that are both made at run time, within a row; threads own rows.
// y[batch][m][n] = sum over k of a[batch][m][k] b[batch][k][n]. Touches its output only. Each output has one order of additions,
// fixed by the strides of b: k ascending in one accumulator, or the 16 lanes of lanes.h where b lies k by k.
// SPDX-License-Identifier: Apache-2.0
#include "ops/lanes.h"
#include "ops/op.h"
#include "ops/strides.h"

namespace rnnp {
namespace {

bool operand_fits(const Model &m, uint32_t operand, uint32_t y, const AttrMatMul &t, const MatrixStrides &s, uint32_t rows,
                  uint32_t columns) {
  if (!is_f32_value(m, operand, 0) || !operand_is_ready(m, operand, y)) return false;
  if (m.values[operand].sequence && !m.values[y].sequence) return false;
  const uint32_t dims[2] = {rows, columns}, elems = m.values[operand].row_elems;
  const int32_t stride[2] = {s.row, s.column};
  int64_t low = s.first, high = s.first;
  return widen_reach(t.rank, t.dims, s.batch, &low, &high) && widen_reach(2, dims, stride, &low, &high) && low >= 0 &&
         high < int64_t{elems};
}

rnnp_status check(const Model &m, const BlobNode &node) {
  const AttrMatMul *t = m.attr<AttrMatMul>(node);
  const uint32_t y = m.node_output(node, 0);
  uint64_t batch, matrix;
  if (t == nullptr || !dims_fit(t->rank, t->dims, &batch)) return RNNP_E_BLOB_CORRUPT;
  const uint32_t sizes[2] = {t->m, t->n};
  if (!dims_fit(2, sizes, &matrix) || t->k == 0 || t->k > INT32_MAX || batch * matrix > UINT32_MAX ||
      !is_f32_value(m, y, uint32_t(batch * matrix)))
    return RNNP_E_BLOB_CORRUPT;
  const uint32_t a = m.node_input(node, 0), b = m.node_input(node, 1);
  if (!operand_fits(m, a, y, *t, t->a, t->m, t->k) || !operand_fits(m, b, y, *t, t->b, t->k, t->n)) return RNNP_E_BLOB_CORRUPT;
  if (t->k > m.values[a].row_elems || t->k > m.values[b].row_elems) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

// One row of y whose b lies n by n: kLanes columns at a time, k ascending.
void row_by_columns(const AttrMatMul &t, const float *a, const float *b, float *y) {
  for (uint32_t j = 0; j < t.n; j += kLanes) {
    const uint32_t width = t.n - j < kLanes ? t.n - j : kLanes;
    float sum[kLanes] = {};
    for (ptrdiff_t k = 0; k < static_cast<ptrdiff_t>(t.k); ++k) {
      const float v = a[k * t.a.column];
      const float *from = b + k * t.b.row + j;
      if (width == kLanes) {
        for (uint32_t l = 0; l < kLanes; ++l) sum[l] += v * from[l];
      } else {
        for (uint32_t l = 0; l < width; ++l) sum[l] += v * from[l];
      }
    }
    for (uint32_t l = 0; l < width; ++l) y[j + l] = sum[l];
  }
}

// The sum of products of two runs of k elements.
float dot(const AttrMatMul &t, const float *a, const float *b) {
  float lanes[kLanes] = {};
  size_t k = 0;
  if (t.a.column == 1 && t.b.row == 1) {
    for (; t.k - k >= kLanes; k += kLanes) {
      for (uint32_t l = 0; l < kLanes; ++l) lanes[l] += a[k + l] * b[k + l];
    }
  }
  for (; k < t.k; ++k) lanes[k % kLanes] += a[static_cast<ptrdiff_t>(k) * t.a.column] * b[static_cast<ptrdiff_t>(k) * t.b.row];
  return fold_end<FoldSum>(lanes);
}

void product(const AttrMatMul &t, const float *a, const float *b, float *y) {
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(t.m); ++i, y += t.n) {
    const float *from = a + i * t.a.row;
    if (t.b.column == 1) {
      row_by_columns(t, from, b, y);
      continue;
    }
    for (ptrdiff_t j = 0; j < static_cast<ptrdiff_t>(t.n); ++j) y[j] = dot(t, from, b + j * t.b.column);
  }
}

const float *operand_row(const RunEnv &env, uint32_t operand, uint32_t y, size_t row) {
  const bool repeats = env.model->values[operand].sequence != env.model->values[y].sequence;
  return row_of(env.values[operand], repeats ? row % env.batch : row);
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrMatMul &t = **static_cast<const AttrMatMul *const *>(object);
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
      product(t, from_a + at_a.at, from_b + at_b.at, to);
      to += size_t{t.m} * t.n;
      at_b.next();
    } while (at_a.next());
  }
}

}  // namespace

const Op rnnp_op_matmul = {OpKind::kMatMul, nullptr, check, nullptr, keep_attr<AttrMatMul>, nullptr, run};

}  // namespace rnnp
