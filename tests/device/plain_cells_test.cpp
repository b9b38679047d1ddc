// plain_cells_test.cpp -- the plain LSTM and GRU cells of a small CPU's own kernels: the bits of cell_body.h over plain floats,
// with arguments in and beyond their range, that are no numbers, and of no size. Room: tests/device.
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/compiled_isa.h"
#include "base/fpenv.h"
#include "kernels/kernels.h"
#define RNNPACK_SET plain
#include "kernels/vec_vfpv4.h"
// The words come before the body that uses them.
#include "kernels/cell_body.h"

namespace rnnp {
namespace {

using namespace plain;

constexpr uint32_t kMostUnits = 13, kRow = 16, kRows = 2, kTurns = 600;

struct Numbers {
  float pre[kRows][4 * kRow], r_bias[kRows][kRow], h_prev[kRows][kRow], h[kRows][kRow], c[kRows][kRow], y[kRows][kRow];
};
Numbers given, got, want;
uint32_t seed = 1;

uint32_t below(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<uint32_t>(uint64_t{seed} * n >> 32);
}
float draw(float most) {
  return static_cast<float>(static_cast<int32_t>(below(1u << 24)) - (1 << 23)) * (most / (1 << 23));
}
// Of all sizes; some are at, or next to, where arguments are cut.
float draw_any() {
  static const float kOdd[] = {30.0f, 30.000002f, 29.999998f, 15.0f, 15.000001f, 14.999999f, __builtin_inff(), __builtin_nanf(""),
                               0.0f,  1e-30f,     3e38f,      88.0f, 1e-6f,      0.5f,       7.6e-3f,          60.0f};
  if (below(5) != 0) return draw(below(2) == 0 ? 1.0f : 40.0f);
  const float odd = kOdd[below(16)];
  return below(2) == 0 || odd != odd ? odd : -odd;  // no sum is a NaN with a sign
}

RecurArgs args_of(Numbers *n, uint32_t units, uint32_t gates, bool has_y) {
  RecurArgs a = {};
  a.preact = n->pre[0], a.preact_row_bytes = sizeof n->pre[0];
  a.r_bias = n->r_bias[0], a.r_bias_row_bytes = sizeof n->r_bias[0];
  a.h_prev = n->h_prev[0], a.h_next = n->h[0], a.c = gates == 4 ? n->c[0] : nullptr;
  a.y = has_y ? n->y[0] : nullptr, a.y_row_bytes = sizeof n->y[0], a.state_row_bytes = sizeof n->h[0];
  a.rows = kRows, a.hidden_size = units, a.tile_end = (units + 3) / 4;
  return a;
}

template <class Cell>
void plain_cells(const RecurArgs &a) {
  constexpr int kGates = Cell::Shape::kGates;
  for (uint32_t row = 0; row < a.rows; ++row) {
    for (uint32_t unit = 0; unit < a.hidden_size; ++unit) {
      const float *pre = offset_bytes(a.preact, row * a.preact_row_bytes) + unit / 4 * 4 * kGates + unit % 4;
      F gates[kGates];
      for (int g = 0; g < kGates; ++g) gates[g] = pre[g * 4];
      const float input = pre[2 * 4];
      if (Cell::Shape::kSplit) gates[2] = offset_bytes(a.r_bias, row * a.r_bias_row_bytes)[unit];
      Cell::finish({&a, row, unit, static_cast<ptrdiff_t>(a.hidden_size - unit), nullptr, 4}, gates, &input);
    }
  }
}

bool same(const float *x, const float *y) {
  return memcmp(x, y, sizeof *x) == 0 || (*x != *x && *y != *y);
}

// Of whole units: lanes that pad a state may hold anything, those of y stay as they were.
bool same_units(uint32_t units) {
  bool good = true;
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t i = 0; i < kRow; ++i) {
      good = good && same(&got.y[row][i], &want.y[row][i]);
      if (i < units) good = good && same(&got.h[row][i], &want.h[row][i]) && same(&got.c[row][i], &want.c[row][i]);
    }
  }
  return good;
}

template <class Cell>
bool check(const Kernel &kernel) {
  for (uint32_t turn = 0; turn < kTurns; ++turn) {
    const uint32_t units = 1 + turn % kMostUnits;
    float *all = &given.pre[0][0];
    for (size_t i = 0; i < sizeof given / sizeof(float); ++i) all[i] = turn % 2 == 0 ? draw(3.0f) : draw_any();
    got = want = given;
    const RecurArgs kernel_args = args_of(&got, units, Cell::Shape::kGates, turn % 3 != 0);
    kernel.recur(&kernel_args);
    plain_cells<Cell>(args_of(&want, units, Cell::Shape::kGates, turn % 3 != 0));
    if (same_units(units)) continue;
    printf("%s: turn %u, %u units: other bits\n", kernel.name, static_cast<unsigned>(turn), static_cast<unsigned>(units));
    return false;
  }
  return true;
}

}  // namespace

extern "C" int main() {
  fpenv_set(fpenv_flushing(fpenv_get()));  // as the runtime does
  bool good = true;
  unsigned checked = 0;
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel &kernel = *kAllKernels.rows[i];
    if (kernel.dtype != DType::kF32 || kernel.nr != 4 || kernel.isa == 0 || (kernel.isa & ~kCompiledIsa) != 0) continue;
    if (kernel.family == KernelFamily::kLstm) good = check<LstmCell>(kernel) && good, ++checked;
    if (kernel.family == KernelFamily::kGruLinear) good = check<GruLinearCell>(kernel) && good, ++checked;
  }
  printf("%s: %u rows of plain cells\n", good ? "PASS" : "FAIL", checked);
  return good && checked >= 2 ? 0 : 1;
}

}  // namespace rnnp
