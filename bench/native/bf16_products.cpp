// bf16_products.cpp -- products of bf16 with sums in one order for three kinds of units, beside f32 and bf16 weights of today:
// whether the instruction is what the order takes it for, whether results have the same bits, and times. No part of the library
// (bench/notebook/low_precision.md). Build and run, on a CPU with AVX512-BF16:
//   c++ -std=c++17 -O3 -mavx512f -mavx512bw -mavx512bf16 -mfma -mprefer-vector-width=512 bench/native/bf16_products.cpp && ./a.out
// The order is that of TDPBF16PS. Of each 32 k two chains from 0, of even and of odd k, ascending; acc += even + odd. All is
// rounded to nearest, denormals are zeros. SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr int kNr = 16, kBlockK = 32;

uint16_t to_bf16(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
float to_float(uint32_t bf16) {
  const uint32_t u = bf16 << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

__m512 dot(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
__m512 low_half(__m512i pair) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
}
__m512 high_half(__m512i pair) {
  return _mm512_castsi512_ps(_mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}

// --- The instruction: the odd half's multiply-add, then the even one's, for all 2^32 pairs of either half ---------------------

uint64_t count_differences(bool of_high_half) {
  uint64_t seed = 88172645463325252u, differences = 0;
  const auto random = [&] { return seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; };
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (uint32_t a = 0; a < 1u << 16; ++a) {
    for (uint32_t b = 0; b < 1u << 16; b += 16) {
      const uint32_t other = static_cast<uint32_t>(random()), sum = static_cast<uint32_t>(random());
      __m512i left = _mm512_set1_epi32(static_cast<int>(a | (other & 0xffff0000u)));
      __m512i right = _mm512_or_si512(_mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(b)), lanes),
                                      _mm512_set1_epi32(static_cast<int>(other << 16)));
      if (of_high_half) left = _mm512_rol_epi32(left, 16), right = _mm512_rol_epi32(right, 16);
      const __m512 from = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(sum)));
      const __m512 got = dot(from, left, right);
      const __m512 odd = _mm512_fmadd_ps(high_half(left), high_half(right), from);
      const __m512 want = _mm512_fmadd_ps(low_half(left), low_half(right), odd);
      const __mmask16 numbers = _mm512_cmp_ps_mask(got, got, _CMP_ORD_Q) | _mm512_cmp_ps_mask(want, want, _CMP_ORD_Q);
      const __mmask16 apart = _mm512_mask_cmpneq_epi32_mask(numbers, _mm512_castps_si512(got), _mm512_castps_si512(want));
      differences += static_cast<uint64_t>(__builtin_popcount(apart));
    }
  }
  return differences;
}

// --- Kernels: kRows rows against kTiles panels, [K / 2][16][2] of bf16 or [K][16] of f32 -----------------------------------------

template <int kRows, int kTiles>
struct Sums {
  __m512 v[kRows][kTiles];
  void zero() {
    for (auto &row : v)
      for (__m512 &sum : row) sum = _mm512_setzero_ps();
  }
  void load(const float *out, size_t stride) {
    for (int r = 0; r < kRows; ++r)
      for (int t = 0; t < kTiles; ++t) v[r][t] = _mm512_loadu_ps(out + r * stride + t * kNr);
  }
  void store(float *out, size_t stride) const {
    for (int r = 0; r < kRows; ++r)
      for (int t = 0; t < kTiles; ++t) _mm512_storeu_ps(out + r * stride + t * kNr, v[r][t]);
  }
  void add(const Sums &even, const Sums &odd) {
    for (int r = 0; r < kRows; ++r)
      for (int t = 0; t < kTiles; ++t) v[r][t] = _mm512_add_ps(v[r][t], _mm512_add_ps(even.v[r][t], odd.v[r][t]));
  }
};

// Rows hold for four k the pairs (k + 2, k) and (k + 3, k + 1), low half first: the instruction begins with the high one. Panels
// are brought into that order in registers, for all rows at once.
template <int kRows, int kTiles>
void by_dots(const uint32_t *a, const uint16_t *panel, int k_count, float *out, size_t stride) {
  Sums<kRows, kTiles> acc, even, odd;
  acc.load(out, stride);
  for (int block = 0; block < k_count; block += kBlockK) {
    even.zero(), odd.zero();
    for (int k = block; k < block + kBlockK; k += 4) {
      for (int t = 0; t < kTiles; ++t) {
        const uint16_t *at = panel + (size_t(t) * k_count + k) * kNr;
        const __m512i first = _mm512_loadu_si512(at), second = _mm512_loadu_si512(at + 2 * kNr);
        const __m512i evens = _mm512_mask_blend_epi16(0xaaaaaaaau, second, _mm512_slli_epi32(first, 16));
        const __m512i odds = _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(second, 16), first);
        for (int r = 0; r < kRows; ++r) {
          const uint32_t *row = a + size_t(r) * k_count / 2 + k / 2;
          even.v[r][t] = dot(even.v[r][t], _mm512_set1_epi32(static_cast<int>(row[0])), evens);
          odd.v[r][t] = dot(odd.v[r][t], _mm512_set1_epi32(static_cast<int>(row[1])), odds);
        }
      }
    }
    acc.add(even, odd);
  }
  acc.store(out, stride);
}

// The same sums without the instruction.
template <int kRows, int kTiles>
void by_fma(const float *a, const uint16_t *panel, int k_count, float *out, size_t stride) {
  Sums<kRows, kTiles> acc, even, odd;
  acc.load(out, stride);
  for (int block = 0; block < k_count; block += kBlockK) {
    even.zero(), odd.zero();
    for (int k = block; k < block + kBlockK; k += 2) {
      for (int t = 0; t < kTiles; ++t) {
        const __m512i pair = _mm512_loadu_si512(panel + (size_t(t) * k_count + k) * kNr);
        const __m512 evens = low_half(pair), odds = high_half(pair);
        for (int r = 0; r < kRows; ++r) {
          even.v[r][t] = _mm512_fmadd_ps(_mm512_set1_ps(a[size_t(r) * k_count + k]), evens, even.v[r][t]);
          odd.v[r][t] = _mm512_fmadd_ps(_mm512_set1_ps(a[size_t(r) * k_count + k + 1]), odds, odd.v[r][t]);
        }
      }
    }
    acc.add(even, odd);
  }
  acc.store(out, stride);
}

// Today's: rows of f32, one chain, k ascending; weights of bf16, or of f32.
template <int kRows, int kTiles>
void by_bf16_weights(const float *a, const uint16_t *panel, int k_count, float *out, size_t stride) {
  Sums<kRows, kTiles> acc;
  acc.load(out, stride);
  for (int k = 0; k < k_count; k += 2) {
    for (int t = 0; t < kTiles; ++t) {
      const __m512i pair = _mm512_loadu_si512(panel + (size_t(t) * k_count + k) * kNr);
      const __m512 evens = low_half(pair), odds = high_half(pair);
      for (int r = 0; r < kRows; ++r) acc.v[r][t] = _mm512_fmadd_ps(_mm512_set1_ps(a[size_t(r) * k_count + k]), evens, acc.v[r][t]);
      for (int r = 0; r < kRows; ++r)
        acc.v[r][t] = _mm512_fmadd_ps(_mm512_set1_ps(a[size_t(r) * k_count + k + 1]), odds, acc.v[r][t]);
    }
  }
  acc.store(out, stride);
}
template <int kRows, int kTiles>
void by_f32(const float *a, const float *panel, int k_count, float *out, size_t stride) {
  Sums<kRows, kTiles> acc;
  acc.load(out, stride);
  for (int k = 0; k < k_count; ++k)
    for (int t = 0; t < kTiles; ++t)
      for (int r = 0; r < kRows; ++r)
        acc.v[r][t] = _mm512_fmadd_ps(_mm512_set1_ps(a[size_t(r) * k_count + k]),
                                      _mm512_loadu_ps(panel + (size_t(t) * k_count + k) * kNr), acc.v[r][t]);
  acc.store(out, stride);
}

// --- A product of all rows and tiles by each of them ---------------------------------------------------------------------------

struct Product {
  int rows, k, units;
  std::vector<float> x, rounded, f32;
  std::vector<uint32_t> pairs;
  std::vector<uint16_t> bf16;

  Product(int rows_, int k_, int units_) : rows(rows_), k(k_), units(units_) {
    uint32_t seed = 1;
    const auto random = [&] { return static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1.0f; };
    x.resize(size_t(rows) * k), f32.resize(size_t(units) * k), bf16.resize(f32.size());
    for (float &v : x) v = random();
    for (const float v : x) rounded.push_back(to_float(to_bf16(v)));
    for (size_t i = 0; i < x.size(); i += 4) {
      pairs.push_back(to_bf16(x[i + 2]) | uint32_t{to_bf16(x[i])} << 16);
      pairs.push_back(to_bf16(x[i + 3]) | uint32_t{to_bf16(x[i + 1])} << 16);
    }
    for (size_t i = 0; i < f32.size(); ++i) {
      const size_t column = i / kNr, n = i % kNr;  // k of all tiles, unit
      f32[i] = random() / 8;
      bf16[(column / 2 * kNr + n) * 2 + column % 2] = to_bf16(f32[i]);
    }
  }

  template <int kMr, int kTiles, class A, class Panel, class Kernel>
  void sweep(const std::vector<A> &a, const std::vector<Panel> &panels, Kernel kernel, std::vector<float> *out) const {
    const size_t row = a.size() / size_t(rows);
    for (int tile = 0; tile < units / kNr; tile += kTiles)
      for (int r = 0; r < rows; r += kMr)
        kernel(&a[r * row], &panels[size_t(tile) * k * kNr], k, out->data() + size_t(r) * units + tile * kNr, size_t(units));
  }

  void run(int way, std::vector<float> *out) const {
    const bool one = rows == 1;
    if (way == 0) return one ? sweep<1, 4>(x, f32, by_f32<1, 4>, out) : sweep<5, 4>(x, f32, by_f32<5, 4>, out);
    if (way == 1) return one ? sweep<1, 4>(x, bf16, by_bf16_weights<1, 4>, out) : sweep<5, 4>(x, bf16, by_bf16_weights<5, 4>, out);
    if (way == 2) return one ? sweep<1, 4>(pairs, bf16, by_dots<1, 4>, out) : sweep<5, 2>(pairs, bf16, by_dots<5, 2>, out);
    return one ? sweep<1, 4>(rounded, bf16, by_fma<1, 4>, out) : sweep<5, 2>(rounded, bf16, by_fma<5, 2>, out);
  }
};

void measure(const Product &p) {
  std::vector<float> of_way[4];
  double best[4];
  for (int way = 0; way < 4; ++way) of_way[way].assign(size_t(p.rows) * p.units, 0.25f), best[way] = 1e30;
  for (int way = 0; way < 4; ++way) p.run(way, &of_way[way]);
  const bool same = std::memcmp(of_way[2].data(), of_way[3].data(), of_way[2].size() * 4) == 0;
  for (int turn = 0; turn < 400; ++turn) {
    for (int way = 0; way < 4; ++way) {
      const auto begin = std::chrono::steady_clock::now();
      for (int call = 0; call < (p.rows == 1 ? 8 : 1); ++call) p.run(way, &of_way[way]);
      const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
      best[way] = std::min(best[way], us / (p.rows == 1 ? 8 : 1));
    }
  }
  std::printf("| %d | %d | %d | %s | %.2f | %.2f | %.2f | %.2f |\n", p.rows, p.k, p.units, same ? "same" : "DIFFERENT", best[0],
              best[1] / best[0], best[2] / best[0], best[3] / best[0]);
}

}  // namespace

int main() {
  _mm_setcsr(_mm_getcsr() | 0x8040);  // denormals are zeros
  for (const bool high : {false, true})
    std::printf("%s half: %llu of 2^32 pairs differ from two multiply-adds\n", high ? "odd" : "even",
                static_cast<unsigned long long>(count_differences(high)));
  std::printf(
      "\n| rows | K | units | bits of both | f32, us | bf16 weights | VDPBF16PS | AVX-512 alone "
      "|\n|--:|--:|--:|---|--:|--:|--:|--:|\n");
  const int shapes[][3] = {{1, 64, 256}, {1, 256, 1024}, {1, 512, 2048}, {20, 800, 3200}, {100, 256, 1024}};
  for (const auto &s : shapes) measure(Product(s[0], s[1], s[2]));
}
