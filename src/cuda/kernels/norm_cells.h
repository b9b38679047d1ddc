// norm_cells.h -- the cells of a layer-normalised LSTM (ops/lstm_norm.cpp has their equations) behind the products W x and R h: a
// block has a row, because a norm needs all units. Sums: thread t adds units t, t + 256, ... in order, then the lanes of a warp are
// added as a butterfly, then warps in order, then, of a norm over all gates, (i + o) + (f + c). Squares are of what is left of the
// mean. A thread reads of what the kernel stores only its own. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_NORM_CELLS_H_
#define RNNPACK_CUDA_KERNELS_NORM_CELLS_H_

#include "cuda/kernels/exchange.h"
#include "cuda/kernels/products_f32.h"
#include "cuda/kernels/row_ops.h"

namespace rnnp {
namespace cuda {

// Sums of all threads, for all of them. part: which half of shared memory, another than that of the sums before.
template <uint32_t kCount>
SIMT_FN void sum_over_block(float v[kCount], uint32_t part) {
  float *sums = reinterpret_cast<float *>(simt::shared()) + part * kNormSums * kWarps;
  SIMT_UNROLL for (uint32_t i = 0; i < kCount; ++i) {
    const float of_warp = sum_over_lanes(v[i]);
    if (simt::thread() % kLanes == 0) sums[i * kWarps + simt::thread() / kLanes] = of_warp;
  }
  simt::sync_block();
  SIMT_UNROLL for (uint32_t i = 0; i < kCount; ++i) {
    v[i] = sums[i * kWarps];
    SIMT_UNROLL for (uint32_t warp = 1; warp < kWarps; ++warp) v[i] += sums[i * kWarps + warp];
  }
}

// i o f c of W x, then those of R h.
struct NormedGates {
  float v[kNormSums];
};
SIMT_FN NormedGates load_gates(const float *of_x, const float *of_h, bool joint, uint32_t unit) {
  const Floats4 x = reinterpret_cast<const Floats4 *>(of_x)[unit], h = reinterpret_cast<const Floats4 *>(of_h)[unit];
  if (joint) return {{x.x + h.x, x.y + h.y, x.z + h.z, x.w + h.w, 0.0f, 0.0f, 0.0f, 0.0f}};
  return {{x.x, x.y, x.z, x.w, h.x, h.y, h.z, h.w}};
}

// By gate, or the sum of four for each.
SIMT_FN void over_gates(bool by_gate, float v[kNormSums]) {
  SIMT_UNROLL for (uint32_t g = 0; g < kNormSums; g += 4) {
    const float all = (v[g] + v[g + 1]) + (v[g + 2] + v[g + 3]);
    SIMT_UNROLL for (uint32_t i = g; i < g + 4; ++i) v[i] = by_gate ? v[i] : all;
  }
}

// What a gate's norm subtracts, and what it multiplies the rest by.
SIMT_FN void measure_gates(const NormCellArgs &a, const float *of_x, const float *of_h, float mean[kNormSums],
                           float factor[kNormSums]) {
  const bool by_gate = a.norms.by_gate != 0, joint = a.norms.h_scale == nullptr;
  const float count = static_cast<float>(by_gate ? a.hidden : 4 * a.hidden);
  SIMT_UNROLL for (uint32_t g = 0; g < kNormSums; ++g) mean[g] = factor[g] = 0.0f;
  SIMT_UNROLLED_BY_4 for (uint32_t unit = simt::thread(); unit < a.hidden; unit += kThreads) {
    const NormedGates gates = load_gates(of_x, of_h, joint, unit);
    SIMT_UNROLL for (uint32_t g = 0; g < kNormSums; ++g) mean[g] += gates.v[g];
  }
  sum_over_block<kNormSums>(mean, 0);
  over_gates(by_gate, mean);
  SIMT_UNROLL for (uint32_t g = 0; g < kNormSums; ++g) mean[g] /= count;
  SIMT_UNROLLED_BY_4 for (uint32_t unit = simt::thread(); unit < a.hidden; unit += kThreads) {
    const NormedGates gates = load_gates(of_x, of_h, joint, unit);
    SIMT_UNROLL for (uint32_t g = 0; g < kNormSums; ++g) factor[g] = fmaf(gates.v[g] - mean[g], gates.v[g] - mean[g], factor[g]);
  }
  sum_over_block<kNormSums>(factor, 1);
  over_gates(by_gate, factor);
  SIMT_UNROLL for (uint32_t g = 0; g < kNormSums; ++g) factor[g] =
      1.0f / sqrtf(factor[g] / count + (g < 4 ? a.norms.x_epsilon : a.norms.h_epsilon));
}

// Gates, and c before its norm; o waits in h. What this thread's add up to.
SIMT_FN float finish_gates(const NormCellArgs &a, const float *of_x, const float *of_h, const float *c, float *raw, float *h) {
  float mean[kNormSums], factor[kNormSums], sum = 0.0f;
  measure_gates(a, of_x, of_h, mean, factor);
  const bool joint = a.norms.h_scale == nullptr;
  SIMT_UNROLLED_BY_4 for (uint32_t unit = simt::thread(); unit < a.hidden; unit += kThreads) {
    const NormedGates gates = load_gates(of_x, of_h, joint, unit);
    const Floats4 x_scale = reinterpret_cast<const Floats4 *>(a.norms.x_scale)[unit];
    const Floats4 h_scale = reinterpret_cast<const Floats4 *>(joint ? a.norms.x_scale : a.norms.h_scale)[unit];
    const Floats4 bias = reinterpret_cast<const Floats4 *>(a.norms.bias)[unit];
    const auto gate = [&](uint32_t g, float of_x_scale, float of_h_scale, float start) {
      const float v = (gates.v[g] - mean[g]) * factor[g] * of_x_scale + start;
      return joint ? v : v + (gates.v[g + 4] - mean[g + 4]) * factor[g + 4] * of_h_scale;
    };
    const float f = cell_sigmoid(gate(2, x_scale.z, h_scale.z, bias.z)), i = cell_sigmoid(gate(0, x_scale.x, h_scale.x, bias.x));
    const float next = f * c[unit] + i * cell_tanh(gate(3, x_scale.w, h_scale.w, bias.w));
    raw[unit] = next;
    h[unit] = cell_sigmoid(gate(1, x_scale.y, h_scale.y, bias.y));
    sum += next;
  }
  return sum;
}

// c and h, of all units' raw.
SIMT_FN void finish_state(const NormCellArgs &a, float sum, const float *raw, float *c, float *h, float *y) {
  const float count = static_cast<float>(a.hidden);
  float mean[1] = {sum}, factor[1] = {0.0f};
  sum_over_block<1>(mean, 0);
  mean[0] /= count;
  SIMT_UNROLLED_BY_4 for (uint32_t unit = simt::thread(); unit < a.hidden; unit += kThreads) factor[0] =
      fmaf(raw[unit] - mean[0], raw[unit] - mean[0], factor[0]);
  sum_over_block<1>(factor, 1);
  factor[0] = 1.0f / sqrtf(factor[0] / count + a.norms.c_epsilon);
  SIMT_UNROLLED_BY_4 for (uint32_t unit = simt::thread(); unit < a.hidden; unit += kThreads) {
    const float next = (raw[unit] - mean[0]) * factor[0] * a.norms.c_scale[unit] + a.norms.c_bias[unit];
    const float out = h[unit] * cell_tanh(next);
    c[unit] = a.norms.keeps_c ? raw[unit] : next;
    h[unit] = out;
    if (y != nullptr) y[unit] = out;
  }
}

SIMT_KERNEL(256) finish_norm_cells(const NormCellArgs a) {
  SIMT_ROLLED for (uint64_t i = simt::block(); i < a.count; i += simt::block_count()) {
    float *y = a.y != nullptr ? a.y + i * a.y_row : nullptr, *h = a.h + i * a.state_row, *raw = a.raw + i * a.state_row;
    const bool ended = a.lengths != nullptr && a.lengths[i] <= static_cast<int32_t>(a.step);
    if (ended || row_is_masked(a, i)) {
      SIMT_ROLLED for (uint32_t unit = simt::thread(); y != nullptr && unit < a.hidden; unit += kThreads) y[unit] =
          ended ? 0.0f : h[unit];
      continue;
    }
    float *c = a.c + (a.rows != nullptr ? a.rows[i] : i) * a.state_row;
    const uint64_t gates = i * a.hidden * 4;
    const float sum = finish_gates(a, a.of_x + gates, a.of_h + gates, c, raw, h);
    finish_state(a, sum, raw, c, h, y);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_NORM_CELLS_H_
