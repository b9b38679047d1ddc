// row_ops.h -- the plain operators within a row: one thread for each element of the result; where there are sums, a warp for each
// line, group or result (matmul: a warp for a slice of 32 results), in the orders said here. SPDX-License-Identifier: Apache-2.0
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

// Sums of a warp: lane l adds elements l, l + 32, ... in order, then lanes are added as a butterfly. All lanes get the same.
SIMT_FN uint64_t first_of_warps() {
  return uint64_t{simt::block()} * kWarps + simt::thread() / kLanes;
}
SIMT_FN uint64_t warp_step() {
  return uint64_t{simt::block_count()} * kWarps;
}
template <class Add>
SIMT_FN float over_lanes(float v, Add add) {
  SIMT_ROLLED for (uint32_t mask = kLanes / 2; mask != 0; mask /= 2) v = add(v, simt::shuffle_xor(v, mask));
  return v;
}
SIMT_FN float sum_over_lanes(float v) {
  return over_lanes(v, [](float a, float b) { return a + b; });
}
SIMT_FN float larger_or_nan(float so_far, float v) {
  return v > so_far || v != v ? v : so_far;
}

SIMT_KERNEL(256) softmax_lines(const SoftmaxArgs a) {
  const uint64_t inner = a.attr.inner, axis = a.attr.axis;
  const uint32_t lane = simt::thread() % kLanes;
  SIMT_ROLLED for (uint64_t i = first_of_warps(); i < a.count; i += warp_step()) {
    const uint64_t first = i / inner * axis * inner + i % inner;
    const float *x = a.x + first;
    float *y = a.y + first, largest = -INFINITY, sum = 0.0f;
    SIMT_UNROLLED_BY_8 for (uint64_t k = lane; k < axis; k += kLanes) largest = larger_or_nan(largest, x[k * inner]);
    largest = over_lanes(largest, larger_or_nan);
    SIMT_UNROLLED_BY_8 for (uint64_t k = lane; k < axis; k += kLanes) sum += expf(x[k * inner] - largest);
    sum = sum_over_lanes(sum);
    const float log_sum = logf(sum);
    SIMT_ROLLED for (uint64_t k = lane; k < axis; k += kLanes) {
      const float v = x[k * inner] - largest;
      y[k * inner] = a.attr.log ? v - log_sum : expf(v) / sum;
    }
  }
}

SIMT_KERNEL(256) norm_groups(const NormArgs a) {
  const uint64_t elems = a.attr.elems;
  const uint32_t lane = simt::thread() % kLanes;
  SIMT_ROLLED for (uint64_t i = first_of_warps(); i < a.count; i += warp_step()) {
    const float *x = a.x + i * elems;
    float *y = a.y + i * elems, sum = 0.0f, squares = 0.0f;
    if (a.attr.centred) {
      SIMT_UNROLLED_BY_8 for (uint64_t k = lane; k < elems; k += kLanes) sum += x[k];
      sum = sum_over_lanes(sum);
    }
    const float mean = sum / static_cast<float>(elems);
    SIMT_UNROLLED_BY_8 for (uint64_t k = lane; k < elems; k += kLanes) squares = fmaf(x[k] - mean, x[k] - mean, squares);
    squares = sum_over_lanes(squares);
    const float factor = 1.0f / sqrtf(squares / static_cast<float>(elems) + a.attr.epsilon);
    SIMT_ROLLED for (uint64_t k = lane; k < elems; k += kLanes) {
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

// What the lanes of a warp made of their elements, together.
SIMT_FN float reduce_over_lanes(Reduce op, float v) {
  if (op == Reduce::kProd) return over_lanes(v, [](float a, float b) { return a * b; });
  if (op == Reduce::kMax || op == Reduce::kMin)
    return over_lanes(v, [op](float a, float b) { return reduce_with(op, a, b, 0.0f); });
  return sum_over_lanes(v);
}
SIMT_FN float reduce_elements(const AttrReduce &t, Reduce op, const float *x, uint32_t count, float shift) {
  float sum = op == Reduce::kProd ? 1.0f : op == Reduce::kMax ? -INFINITY : op == Reduce::kMin ? INFINITY : 0.0f;
  SIMT_UNROLLED_BY_4 for (uint32_t k = simt::thread() % kLanes; k < count; k += kLanes) sum =
      reduce_with(op, sum, x[offset_at(k, t.over_rank, t.over_dims, t.over_stride)], shift);
  return reduce_over_lanes(op, sum);
}

SIMT_KERNEL(256) reduce_results(const ReduceArgs a) {
  const AttrReduce &t = a.attr;
  const Reduce op = Reduce(t.op);
  uint32_t count = 1;
  SIMT_ROLLED for (uint32_t i = 0; i < t.over_rank; ++i) count *= t.over_dims[i];
  SIMT_ROLLED for (uint64_t i = first_of_warps(); i < a.count; i += warp_step()) {
    const uint32_t e = static_cast<uint32_t>(i % a.elems);
    const float *x = a.x + i / a.elems * a.x_row + t.x_first + offset_at(e, t.kept_rank, t.kept_dims, t.kept_stride);
    float result;
    if (op != Reduce::kLogSumExp) {
      const float sum = reduce_elements(t, op, x, count, 0.0f);
      const float mean = op == Reduce::kMean ? sum / static_cast<float>(count) : sum;
      result = op == Reduce::kL2 ? sqrtf(mean) : op == Reduce::kLogSum ? logf(mean) : mean;
    } else {
      const float largest = reduce_elements(t, Reduce::kMax, x, count, 0.0f);
      const bool finite = largest - largest == 0.0f;
      result = finite ? largest + logf(reduce_elements(t, op, x, count, largest)) : largest;
    }
    if (simt::thread() % kLanes == 0) a.y[i] = result;
  }
}

// A lane has an element and a warp a slice of k (k mod 8), ascending from zero; slices are added in order.
SIMT_KERNEL(256) matmul_elements(const MatMulArgs a) {
  constexpr uint32_t kAtOnce = 4;  // of k, whose loads are under way
  const AttrMatMul &t = a.attr;
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes;
  float *slices = reinterpret_cast<float *>(simt::shared());
  SIMT_ROLLED for (uint64_t first = uint64_t{simt::block()} * kLanes; first < a.count;
                   first += uint64_t{simt::block_count()} * kLanes) {
    const uint64_t i = first + lane, row = i / a.elems;
    const uint32_t e = static_cast<uint32_t>(i % a.elems), n = e % t.n, m = e / t.n % t.m, batch = e / t.n / t.m;
    float sum = 0.0f;
    if (i < a.count) {
      const float *x = row_of_operand(a.a, row) + t.a.first + offset_at(batch, t.rank, t.dims, t.a.batch) + int64_t{m} * t.a.row;
      const float *y = row_of_operand(a.b, row) + t.b.first + offset_at(batch, t.rank, t.dims, t.b.batch) + int64_t{n} * t.b.column;
      SIMT_ROLLED for (uint32_t k = warp; k < t.k; k += kAtOnce * kWarps) {
        float u[kAtOnce], v[kAtOnce];
        SIMT_UNROLL for (uint32_t j = 0; j < kAtOnce; ++j) {
          const int64_t at = k + j * kWarps < t.k ? k + j * kWarps : k;
          u[j] = x[at * t.a.column], v[j] = y[at * t.b.row];
        }
        SIMT_UNROLL for (uint32_t j = 0; j < kAtOnce; ++j) {
          if (k + j * kWarps < t.k) sum = fmaf(u[j], v[j], sum);
        }
      }
    }
    slices[warp * kLanes + lane] = sum;
    simt::sync_block();
    if (warp == 0 && i < a.count) {
      float all = 0.0f;
      SIMT_UNROLL for (uint32_t s = 0; s < kWarps; ++s) all += slices[s * kLanes + lane];
      a.y[i] = all;
    }
    simt::sync_block();  // before the next are written
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
