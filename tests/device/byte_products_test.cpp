// byte_products_test.cpp -- the gemm rows of int8 panels of four units on the CPU itself: the bits of docs/KERNELS.md, "Int8",
// whatever rows and weights hold. Reference rows are tried on larger machines. No C++ library, everything in static memory. Room:
// tests/device. SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/compiled_isa.h"
#include "base/fpenv.h"
#include "kernels/kernels.h"
#include "pack/panel_format.h"

namespace rnnp {
namespace {

constexpr uint32_t kMostK = 1101, kMostTiles = 5, kMostColumns = kMostTiles * 16;

struct Shape {
  uint32_t rows, k, gates, tiles, units, gap;  // floats between tiles of results
  bool start, diagonal;
  float lhs_scale;
};

int8_t weights[kMostColumns][kMostK];
alignas(64) uint8_t panels[kMostColumns * (kMostK + 15)];
alignas(64) uint8_t scratch[2 * (kMostK + 16) + 64];
float scales[kMostColumns], diagonal[kMostColumns], a[2][kMostK], start[2][kMostColumns + 64], out[2][kMostColumns + 64];
uint32_t seed;

uint32_t below(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<uint32_t>(uint64_t{seed} * n >> 32);
}
float draw() {
  return static_cast<float>(static_cast<int32_t>(below(1u << 24)) - (1 << 23)) * (1.5f / (1 << 23));
}

KernelFamily dense_family(const PanelFormat &f) {
  if (f.scales == Scales::kSmlad) return KernelFamily::kGemmSmlad;
  return f.scales == Scales::kKMajor16 ? KernelFamily::kGemmKMajor16 : KernelFamily::kGemm;
}

const PanelFormat *format_of(const Kernel &kernel) {
  for (const PanelFormat &f : kPanelFormats) {
    if (f.weight == kernel.dtype && f.nr == kernel.nr && f.index_bytes == 0 && f.factor == DType::kI8 &&
        dense_family(f) == kernel.family)
      return &f;
  }
  return nullptr;
}

// `kind` 0: tame numbers; 1: weights and rows of the largest sizes; 2: some that are no numbers, and very large and small ones.
void fill(const Shape &s, const PanelFormat &f, uint32_t kind) {
  static const float kOdd[] = {__builtin_inff(), -__builtin_inff(), __builtin_nanf(""), 0.0f, -0.0f, 1e30f, -1e-30f, 3e38f};
  const uint32_t columns = s.gates * s.tiles * 4;
  for (uint32_t c = 0; c < columns; ++c) {
    for (uint32_t k = 0; k < s.k; ++k)
      weights[c][k] =
          static_cast<int8_t>(kind == 1 ? 127 - 254 * static_cast<int>(below(9) / 8) : static_cast<int>(below(255)) - 127);
    scales[c] = draw() * 0.01f + 0.02f, diagonal[c] = draw();
  }
  for (uint32_t m = 0; m < s.rows; ++m) {
    for (uint32_t k = 0; k < s.k; ++k) a[m][k] = kind == 1 ? 1.0f : kind == 2 && below(4) == 0 ? kOdd[below(8)] : draw();
    for (float &v : start[m]) v = draw();
    for (float &v : out[m]) v = 77.0f;
  }
  memset(panels, 0, sizeof panels);
  for (uint32_t c = 0; c < columns; ++c) {
    const uint32_t tile = c / (4 * s.gates), gate = c / 4 % s.gates, unit = tile * 4 + c % 4;
    for (uint32_t k = 0; k < s.k; ++k) {
      const size_t place = place_in_panels(f, {s.gates, s.tiles * 4, s.k, s.k}, gate, unit, k);
      const bool borrowed = f.scales == Scales::kSmlad && k % 2 != 0 && weights[c][k - 1] < 0;
      panels[place] = static_cast<uint8_t>(weights[c][k] - borrowed);
    }
  }
}

int byte_of(float v) {
  if (!(v == v)) return 0;
  const float cut = v < -127.0f ? -127.0f : v > 127.0f ? 127.0f : v;
  const volatile float shifted = cut + 12582912.0f;  // rounds to the nearest, halves to the even one
  return static_cast<int>(shifted - 12582912.0f);
}

float expected(const Shape &s, uint32_t m, uint32_t c) {
  float most = 0.0f, to_byte = s.lhs_scale == 0.0f ? 0.0f : 1.0f / s.lhs_scale, step = s.lhs_scale;
  for (uint32_t k = 0; k < s.k; ++k) {
    const float size = __builtin_fabsf(a[m][k]);
    if (size < __builtin_inff() && size > most) most = size;
  }
  if (step == 0.0f && most >= 1e-30f) to_byte = 127.0f / most, step = most / 127.0f;
  int32_t sum = 0;
  for (uint32_t k = 0; k < s.k; ++k) sum += byte_of(a[m][k] * to_byte) * weights[c][k];
  const uint32_t tile = c / (4 * s.gates), within = c % (4 * s.gates), unit = tile * 4 + c % 4;
  const float from = s.start ? start[m][tile * (4 * s.gates + s.gap) + within] : 0.0f;
  const float value = __builtin_fmaf(static_cast<float>(sum), scales[c] * step, from);
  return s.diagonal && unit < s.k ? __builtin_fmaf(a[m][unit], diagonal[c], value) : value;
}

bool same(float x, float y) {
  return memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y);
}

bool check(const Kernel &kernel, const Shape &s, uint32_t kind) {
  fill(s, *format_of(kernel), kind);
  GemmArgs g = {};
  g.a = a[0], g.a_row_bytes = sizeof a[0];
  g.w.panels = panels, g.w.scales = scales, g.w.diagonal = s.diagonal ? diagonal : nullptr;
  g.w.lhs_scale = s.lhs_scale, g.scratch = scratch;
  g.start = s.start ? start[0] : nullptr, g.start_row_bytes = sizeof start[0];
  g.out = out[0], g.out_row_bytes = sizeof out[0];
  g.start_tile = g.out_tile = static_cast<uint8_t>(s.gap == 0 ? 0 : 4 * s.gates + s.gap);
  g.rows = s.rows, g.w.k = s.k, g.w.gates = static_cast<uint8_t>(s.gates), g.units = s.units;
  const uint32_t cuts[] = {0, s.tiles / 2, s.tiles};
  for (const uint32_t cut : cuts) {  // in two calls, the second of rows that the first has left as bytes
    g.tile_end = cut;
    g.prepared = g.tile_begin != 0;
    if (g.tile_begin < cut) kernel.gemm(&g);
    g.tile_begin = cut;
  }
  for (uint32_t m = 0; m < s.rows; ++m) {
    for (uint32_t i = 0; i < kMostColumns + 64; ++i) {
      const uint32_t stride = 4 * s.gates + s.gap, within = i % stride, c = i / stride * 4 * s.gates + within;
      const bool written = i / stride < s.tiles && within < 4 * s.gates && (s.units == 0 || c < s.units);
      const float want = written ? expected(s, m, c) : 77.0f;
      if (same(want, out[m][i])) continue;
      printf("%s: k %u, %u gates, kind %u: row %u, float %u is %g, not %g\n", kernel.name, static_cast<unsigned>(s.k),
             static_cast<unsigned>(s.gates), static_cast<unsigned>(kind), static_cast<unsigned>(m), static_cast<unsigned>(i),
             static_cast<double>(out[m][i]), static_cast<double>(want));
      return false;
    }
  }
  return true;
}

bool check_all(const Kernel &kernel) {
  bool good = true;
  seed = 1;
  for (uint32_t k = 1; k <= 79 && good; ++k) {
    const uint32_t gates = 1 + k % 4, tiles = 1 + k % kMostTiles, units = gates == 1 ? tiles * 4 - k / 4 % 4 : 0;
    const Shape s = {1 + k % 2, k, gates, tiles, units, k % 3 * 2, k % 5 != 0, k % 7 == 0, k % 2 != 0 ? 1.0f / 127.0f : 0.0f};
    for (uint32_t kind = 0; kind < 3; ++kind) good = check(kernel, s, kind) && good;
  }
  constexpr uint32_t kDepths[] = {64, 128, 511, 512, 513, 520, 1024, kMostK};
  for (const uint32_t k : kDepths) {
    for (uint32_t kind = 0; kind < 3; ++kind) good = check(kernel, {1, k, 2, 2, 0, 0, true, false, 1.0f / 127.0f}, kind) && good;
  }
  return good;
}

}  // namespace

extern "C" int main() {
  fpenv_set(fpenv_flushing(fpenv_get()));  // as the runtime does
  bool good = true;
  unsigned checked = 0;
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel &kernel = *kAllKernels.rows[i];
    if (kernel.nr != 4 || kernel.isa == 0 || (kernel.isa & ~kCompiledIsa) != 0 || kernel.dtype == DType::kI4) continue;
    if (format_of(kernel) == nullptr) continue;
    good = check_all(kernel) && good;
    ++checked;
  }
  printf("%s: %u rows of products of bytes\n", good ? "PASS" : "FAIL", checked);
  return good && checked >= 2 ? 0 : 1;
}

}  // namespace rnnp
