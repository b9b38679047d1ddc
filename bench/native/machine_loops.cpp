// See machine_loops.h. The bodies are written once on compiler vectors; each instruction set instantiates them in a function
// that carries its target attribute, so this file needs no special flags and runs on any CPU.
// SPDX-License-Identifier: Apache-2.0
#include "machine_loops.h"

namespace {

constexpr int kReads = 8;        // independent accumulators: xor has one cycle of latency
constexpr int kMultiplies = 12;  // latency times throughput of FMA, with some to spare

template <class Vector>
[[gnu::always_inline]] inline long long read_body(const void *p, size_t bytes, size_t times) {
  const Vector *v = static_cast<const Vector *>(p);
  const size_t count = bytes / sizeof(Vector);
  Vector sum[kReads] = {};
  for (size_t t = 0; t < times; ++t) {
    for (size_t i = 0; i < count; i += kReads) {
#pragma GCC unroll 8
      for (int k = 0; k < kReads; ++k) sum[k] ^= v[i + k];
    }
    asm volatile("" ::: "memory");
  }
  for (int k = 1; k < kReads; ++k) sum[0] ^= sum[k];
  return sum[0][0];
}

template <class Vector>
[[gnu::always_inline]] inline float multiply_body(size_t times) {
  Vector sum[kMultiplies] = {};
  Vector x = Vector{} + 0.999f;
  Vector y = Vector{} + 0.001f;
  asm volatile("" : "+m"(x), "+m"(y));
  const Vector a = x;
  const Vector b = y;
  for (size_t t = 0; t < times; ++t) {
#pragma GCC unroll 12
    for (int k = 0; k < kMultiplies; ++k) sum[k] = sum[k] * a + b;
  }
  for (int k = 1; k < kMultiplies; ++k) sum[0] += sum[k];
  return sum[0][0];
}

template <class Vector>
constexpr size_t flops_of() {
  return 2 * kMultiplies * sizeof(Vector) / sizeof(float);
}

using Long2 [[gnu::vector_size(16)]] = long long;
using Float4 [[gnu::vector_size(16)]] = float;

long long read_128(const void *p, size_t bytes, size_t times) {
  return read_body<Long2>(p, bytes, times);
}
float multiply_128(size_t times) {
  return multiply_body<Float4>(times);
}

#if defined(__x86_64__)
using Long4 [[gnu::vector_size(32)]] = long long;
using Float8 [[gnu::vector_size(32)]] = float;
using Long8 [[gnu::vector_size(64)]] = long long;
using Float16 [[gnu::vector_size(64)]] = float;

[[gnu::target("avx2,fma")]] long long read_avx2(const void *p, size_t bytes, size_t times) {
  return read_body<Long4>(p, bytes, times);
}
[[gnu::target("avx2,fma")]] float multiply_avx2(size_t times) {
  return multiply_body<Float8>(times);
}
[[gnu::target("avx512f,fma")]] long long read_avx512(const void *p, size_t bytes, size_t times) {
  return read_body<Long8>(p, bytes, times);
}
[[gnu::target("avx512f,fma")]] float multiply_avx512(size_t times) {
  return multiply_body<Float16>(times);
}
#endif

}  // namespace

MachineLoops best_machine_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", read_avx512, multiply_avx512, flops_of<Float16>()};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"avx2", read_avx2, multiply_avx2, flops_of<Float8>()};
#endif
  return {"128 bit", read_128, multiply_128, flops_of<Float4>()};
}
