// row_ops.h -- the plain operators within a row: one thread for each element, line or group of the result, sums with ascending
// index in one accumulator. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_ROW_OPS_H_
#define RNNPACK_CUDA_KERNELS_ROW_OPS_H_

#include "base/sine.h"
#include "cuda/kernels/args.h"
#include "cuda/kernels/device_activation.h"
#include "cuda/kernels/op_args.h"
#include "cuda/kernels/rows.h"

namespace rnnp {
namespace cuda {

SIMT_FN const float *row_of_operand(const Operand &o, uint64_t row) {
  return o.data + (o.repeats != 0 ? row % o.repeats : row) * o.row;
}

// Offset of the row-major index `i` over dims.
template <class Stride>
SIMT_FN int64_t offset_at(uint32_t i, uint32_t rank, const uint32_t *dims, const Stride *stride) {
  int64_t at = 0;
  SIMT_ROLLED for (uint32_t axis = rank; axis > 0; --axis) {
    at += static_cast<int64_t>(i % dims[axis - 1]) * stride[axis - 1];
    i /= dims[axis - 1];
  }
  return at;
}

SIMT_FN float combine(Binary op, float a, float b) {
  switch (op) {
    case Binary::kAdd:
      return a + b;
    case Binary::kMul:
      return a * b;
    case Binary::kSub:
      return a - b;
    case Binary::kDiv:
      return a / b;
    case Binary::kMin:
      return a < b || a != a ? a : b;
    case Binary::kMax:
      return a > b || a != a ? a : b;
    case Binary::kPow:
      return powf(a, b);
    case Binary::kEqual:
      return a == b ? 1.0f : 0.0f;
    case Binary::kLess:
      return a < b ? 1.0f : 0.0f;
    case Binary::kLessOrEqual:
      return a <= b ? 1.0f : 0.0f;
    case Binary::kGreater:
      return a > b ? 1.0f : 0.0f;
    case Binary::kGreaterOrEqual:
      return a >= b ? 1.0f : 0.0f;
    case Binary::kNotEqual:
      return a != b ? 1.0f : 0.0f;
    case Binary::kPRelu:
      break;
  }
  return a < 0.0f ? a * b : a;
}

SIMT_KERNEL(256) unary_elements(const UnaryArgs a) {
  const Act act = Act(a.act.act);
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const float x = a.x[i];
    a.y[i] = act == Act::kSin ? sine_of(x) : act == Act::kCos ? cosine_of(x) : activate(a.act, x);
  }
}

SIMT_KERNEL(256) binary_elements(const BinaryArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t row = i / a.elems;
    const uint32_t e = static_cast<uint32_t>(i % a.elems);
    const float left = row_of_operand(a.a, row)[offset_at(e, a.attr.rank, a.attr.dims, a.attr.a_stride)];
    const float right = row_of_operand(a.b, row)[offset_at(e, a.attr.rank, a.attr.dims, a.attr.b_stride)];
    a.y[i] = combine(Binary(a.attr.op), left, right);
  }
}

SIMT_KERNEL(256) where_elements(const WhereArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t row = i / a.elems;
    const uint32_t e = static_cast<uint32_t>(i % a.elems);
    const auto element = [&](uint32_t which) {
      return row_of_operand(a.from[which], row)[a.attr.first[which] + offset_at(e, a.attr.rank, a.attr.dims, a.attr.stride[which])];
    };
    a.y[i] = element(0) != 0.0f ? element(1) : element(2);
  }
}

SIMT_KERNEL(256) copy_elements(const CopyArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t row = i / a.elems;
    const uint32_t e = static_cast<uint32_t>(i % a.elems);
    const int64_t from = a.attr.x_first + offset_at(e, a.attr.rank, a.attr.dims, a.attr.x_stride);
    const int64_t to = a.attr.y_first + offset_at(e, a.attr.rank, a.attr.dims, a.attr.y_stride);
    a.y[row * a.y_row + to] = row_of_operand(a.x, row)[from];
  }
}

SIMT_KERNEL(256) softmax_lines(const SoftmaxArgs a) {
  const uint64_t inner = a.attr.inner, axis = a.attr.axis;
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t first = i / inner * axis * inner + i % inner;
    const float *x = a.x + first;
    float *y = a.y + first, largest = x[0], sum = 0.0f;
    SIMT_ROLLED for (uint64_t k = 1; k < axis; ++k) largest =
        x[k * inner] > largest || x[k * inner] != x[k * inner] ? x[k * inner] : largest;
    SIMT_ROLLED for (uint64_t k = 0; k < axis; ++k) sum += expf(x[k * inner] - largest);
    const float log_sum = logf(sum);
    SIMT_ROLLED for (uint64_t k = 0; k < axis; ++k) {
      const float v = x[k * inner] - largest;
      y[k * inner] = a.attr.log ? v - log_sum : expf(v) / sum;
    }
  }
}

SIMT_KERNEL(256) norm_groups(const NormArgs a) {
  const uint64_t elems = a.attr.elems;
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const float *x = a.x + i * elems;
    float *y = a.y + i * elems, sum = 0.0f, squares = 0.0f;
    SIMT_ROLLED for (uint64_t k = 0; a.attr.centred && k < elems; ++k) sum += x[k];
    const float mean = sum / static_cast<float>(elems);
    SIMT_ROLLED for (uint64_t k = 0; k < elems; ++k) squares = fmaf(x[k] - mean, x[k] - mean, squares);
    const float factor = 1.0f / sqrtf(squares / static_cast<float>(elems) + a.attr.epsilon);
    SIMT_ROLLED for (uint64_t k = 0; k < elems; ++k) {
      const uint64_t at = a.attr.per_outer ? i % a.attr.outer : k;
      const float v = (x[k] - mean) * factor * (a.scale != nullptr ? a.scale[at] : 1.0f);
      y[k] = a.bias != nullptr ? v + a.bias[at] : v;
    }
  }
}

// One more element of a reduction.
SIMT_FN float reduce_with(Reduce op, float so_far, float v, float shift) {
  switch (op) {
    case Reduce::kMax:
      return v > so_far || v != v ? v : so_far;
    case Reduce::kMin:
      return v < so_far || v != v ? v : so_far;
    case Reduce::kProd:
      return so_far * v;
    case Reduce::kL1:
      return so_far + fabsf(v);
    case Reduce::kL2:
    case Reduce::kSumSquare:
      return fmaf(v, v, so_far);
    case Reduce::kLogSumExp:
      return so_far + expf(v - shift);
    case Reduce::kSum:
    case Reduce::kMean:
    case Reduce::kLogSum:
      break;
  }
  return so_far + v;
}

SIMT_FN float reduce_elements(const AttrReduce &t, Reduce op, const float *x, uint32_t count, float shift) {
  float sum = op == Reduce::kProd ? 1.0f : op == Reduce::kMax ? -INFINITY : op == Reduce::kMin ? INFINITY : 0.0f;
  SIMT_ROLLED for (uint32_t k = 0; k < count; ++k) sum =
      reduce_with(op, sum, x[offset_at(k, t.over_rank, t.over_dims, t.over_stride)], shift);
  return sum;
}

SIMT_KERNEL(256) reduce_results(const ReduceArgs a) {
  const AttrReduce &t = a.attr;
  const Reduce op = Reduce(t.op);
  uint32_t count = 1;
  SIMT_ROLLED for (uint32_t i = 0; i < t.over_rank; ++i) count *= t.over_dims[i];
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint32_t e = static_cast<uint32_t>(i % a.elems);
    const float *x = a.x + i / a.elems * a.x_row + t.x_first + offset_at(e, t.kept_rank, t.kept_dims, t.kept_stride);
    if (op != Reduce::kLogSumExp) {
      const float sum = reduce_elements(t, op, x, count, 0.0f);
      const float mean = op == Reduce::kMean ? sum / static_cast<float>(count) : sum;
      a.y[i] = op == Reduce::kL2 ? sqrtf(mean) : op == Reduce::kLogSum ? logf(mean) : mean;
      continue;
    }
    const float largest = reduce_elements(t, Reduce::kMax, x, count, 0.0f);
    const bool finite = largest - largest == 0.0f;
    a.y[i] = finite ? largest + logf(reduce_elements(t, op, x, count, largest)) : largest;
  }
}

SIMT_KERNEL(256) matmul_elements(const MatMulArgs a) {
  const AttrMatMul &t = a.attr;
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t row = i / a.elems;
    const uint32_t e = static_cast<uint32_t>(i % a.elems), n = e % t.n, m = e / t.n % t.m, batch = e / t.n / t.m;
    const float *x = row_of_operand(a.a, row) + t.a.first + offset_at(batch, t.rank, t.dims, t.a.batch) + int64_t{m} * t.a.row;
    const float *y = row_of_operand(a.b, row) + t.b.first + offset_at(batch, t.rank, t.dims, t.b.batch) + int64_t{n} * t.b.column;
    float sum = 0.0f;
    SIMT_ROLLED for (uint32_t k = 0; k < t.k; ++k) sum = fmaf(x[int64_t{k} * t.a.column], y[int64_t{k} * t.b.row], sum);
    a.y[i] = sum;
  }
}

// An index outside its table gives zeros, and is told.
SIMT_KERNEL(256) gather_elements(const GatherArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const int64_t given = a.x[i / a.attr.elems], at = given < 0 ? given + a.attr.rows : given;
    const bool inside = at >= 0 && at < static_cast<int64_t>(a.attr.rows);
    if (!inside) simt::flag_store(a.findings + kFoundBadIndex, 1);
    a.y[i] = inside ? a.table[at * a.attr.elems + static_cast<int64_t>(i % a.attr.elems)] : 0.0f;
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_ROW_OPS_H_
