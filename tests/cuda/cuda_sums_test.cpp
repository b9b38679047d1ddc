// cuda_sums_test.cpp -- the order in which the plain operators with sums add (kernels/row_ops.h), to the bit, at sizes around a
// warp's and beyond what it asks for at once; lines, groups and results more than a block has.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "cuda/emulator/emulator.h"
#include "cuda/kernel_table.h"
#include "cuda/kernels/op_args.h"
#include "format/blob.h"

namespace rnnp::cuda {
namespace {

constexpr uint32_t kSizes[] = {1, 7, 31, 32, 33, 256, 300, 700};

template <class Args>
void run(KernelId id, const Args &args, uint32_t blocks, uint32_t shared_bytes) {
  const KernelFacts &k = kKernels[static_cast<uint32_t>(id)];
  ASSERT_EQ(k.sync, simt::Sync::kWarp);
  ASSERT_TRUE(simt::run_grid({blocks, kThreads, shared_bytes, 7, k.sync, 0}, k.call, &args));
}

std::vector<float> numbers(size_t count, uint32_t seed) {
  std::vector<float> v(count);
  for (float &x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return v;
}

// Lane by lane in order, then as a butterfly.
template <class Element>
float sum_of_warp(uint32_t count, Element element) {
  std::vector<float> lane(kLanes, 0.0f);
  for (uint32_t k = 0; k < count; ++k) lane[k % kLanes] = element(lane[k % kLanes], k);
  for (uint32_t mask = kLanes / 2; mask != 0; mask /= 2) {
    const std::vector<float> before = lane;
    for (uint32_t l = 0; l < kLanes; ++l) lane[l] = before[l] + before[l ^ mask];
  }
  return lane[0];
}

void expect_bits(const std::vector<float> &got, const std::vector<float> &want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(std::memcmp(&got[i], &want[i], 4), 0) << i << ": " << got[i] << " " << want[i];
}

TEST(CudaSums, OfNorms) {
  constexpr uint32_t kGroups = 19;
  for (const uint32_t n : kSizes) {
    const std::vector<float> x = numbers(size_t{kGroups} * n, n), scale = numbers(n, 5);
    std::vector<float> y(x.size()), want(x.size());
    const AttrNorm attr = {1, n, 1, 0, 1e-5f, 0, kNone};
    run(KernelId::norm_groups, NormArgs{kGroups, x.data(), scale.data(), nullptr, y.data(), attr}, 2, 0);
    for (uint32_t g = 0; g < kGroups; ++g) {
      const float *from = x.data() + size_t{g} * n;
      const float mean = sum_of_warp(n, [&](float so_far, uint32_t k) { return so_far + from[k]; }) / static_cast<float>(n);
      const float squares =
          sum_of_warp(n, [&](float so_far, uint32_t k) { return std::fmaf(from[k] - mean, from[k] - mean, so_far); });
      const float factor = 1.0f / std::sqrt(squares / static_cast<float>(n) + attr.epsilon);
      for (uint32_t k = 0; k < n; ++k) want[size_t{g} * n + k] = (from[k] - mean) * factor * scale[k];
    }
    expect_bits(y, want);
  }
}

TEST(CudaSums, OfSoftmax) {
  constexpr uint32_t kOuter = 5, kInner = 3;
  for (const uint32_t n : kSizes) {
    std::vector<float> x = numbers(size_t{kOuter} * n * kInner, n);
    x[(size_t{n} - 1) * kInner] = NAN;  // the first line's last element
    std::vector<float> y(x.size()), want(x.size());
    run(KernelId::softmax_lines, SoftmaxArgs{kOuter * kInner, x.data(), y.data(), {kOuter, n, kInner, 0}}, 1, 0);
    for (uint32_t line = 0; line < kOuter * kInner; ++line) {
      const size_t first = size_t{line} / kInner * n * kInner + line % kInner;
      float largest = -INFINITY;
      for (uint32_t k = 0; k < n; ++k) largest = std::fmax(largest, x[first + size_t{k} * kInner]);
      const auto power = [&](uint32_t k) { return expf(x[first + size_t{k} * kInner] - largest); };
      const float sum = sum_of_warp(n, [&](float so_far, uint32_t k) { return so_far + power(k); });
      for (uint32_t k = 0; k < n; ++k) want[first + size_t{k} * kInner] = power(k) / sum;
    }
    for (uint32_t k = 0; k < n; ++k) {
      EXPECT_TRUE(std::isnan(y[size_t{k} * kInner])) << "NaN is the largest of its line";
      y[size_t{k} * kInner] = want[size_t{k} * kInner] = 0.0f;
    }
    expect_bits(y, want);
  }
}

TEST(CudaSums, OfReductions) {
  constexpr uint32_t kKept = 11;
  for (const uint32_t n : kSizes) {
    const std::vector<float> x = numbers(size_t{kKept} * n, n);
    for (const Reduce op : {Reduce::kSum, Reduce::kMax, Reduce::kSumSquare}) {
      std::vector<float> y(kKept), want(kKept);
      AttrReduce t = {};
      t.op = uint32_t(op), t.kept_rank = 1, t.kept_dims[0] = kKept, t.kept_stride[0] = 1;
      t.over_rank = 1, t.over_dims[0] = n, t.over_stride[0] = kKept;
      run(KernelId::reduce_results, ReduceArgs{kKept, x.data(), y.data(), 0, kKept, t}, 2, 0);
      for (uint32_t i = 0; i < kKept; ++i) {
        const auto at = [&](uint32_t k) { return x[size_t{k} * kKept + i]; };
        want[i] = sum_of_warp(n, [&](float s, uint32_t k) { return op == Reduce::kSum ? s + at(k) : std::fmaf(at(k), at(k), s); });
        if (op == Reduce::kMax) want[i] = at(0);
        for (uint32_t k = 0; op == Reduce::kMax && k < n; ++k) want[i] = std::fmax(want[i], at(k));
      }
      expect_bits(y, want);
    }
  }
}

TEST(CudaSums, OfMatrixProducts) {
  constexpr uint32_t kM = 5, kN = 13, kBatch = 2;
  for (const uint32_t depth : kSizes) {
    const std::vector<float> x = numbers(size_t{kBatch} * kM * depth, depth), w = numbers(size_t{depth} * kN, 3);
    std::vector<float> y(size_t{kBatch} * kM * kN), want(y.size());
    AttrMatMul t = {};
    t.m = kM, t.n = kN, t.k = depth;
    t.a.row = static_cast<int32_t>(depth), t.a.column = 1, t.b.row = kN, t.b.column = 1;
    const MatMulArgs args = {y.size(), {x.data(), size_t{kM} * depth, 0}, {w.data(), 0, 0}, y.data(), kM * kN, t};
    run(KernelId::matmul_elements, args, 3, kThreads * sizeof(float));
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t row = i / (kM * kN), m = i / kN % kM, n = i % kN;
      for (uint32_t slice = 0; slice < kWarps; ++slice) {
        float sum = 0.0f;
        for (uint32_t k = slice; k < depth; k += kWarps) sum = std::fmaf(x[(row * kM + m) * depth + k], w[k * kN + n], sum);
        want[i] += sum;
      }
    }
    expect_bits(y, want);
  }
}

}  // namespace
}  // namespace rnnp::cuda
