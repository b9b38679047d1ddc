// fixed_sums.h -- the sums of bytes times bytes: of 4, 8 or 16 columns of a panel at a time, as many as registers hold.
// Room: kernels. Weights are 128 too large, and have no sign; what that adds is the caller's. Contract: docs/KERNELS.md,
// "Integer-only layers". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FIXED_SUMS_H_
#define RNNPACK_KERNELS_FIXED_SUMS_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/fixed_sums_v6m.h"
#include "kernels/inlining.h"

#ifndef __ARM_ARCH_6M__
namespace rnnp {
namespace {

#ifdef __arm__
constexpr size_t kMostColumns = 8;
#else
constexpr size_t kMostColumns = 16;
#endif
#if defined(__arm__) || defined(__riscv)
// Compilers would rather load many weights first, or add up products of several k, and run out of registers.
#define RNNPACK_ADDED(sum) __asm__ volatile("" : "+r"(sum) : : "memory")
#else
#define RNNPACK_ADDED(sum)
#endif

// One k.
template <size_t kColumns>
RNNPACK_INLINE void add_fixed_products(int32_t v, const uint8_t *panel, uint32_t *s) {
  RNNPACK_UNROLL
  for (size_t n = 0; n < kColumns; ++n) {
    s[n] += static_cast<uint32_t>(int32_t{panel[n]} * v);
    RNNPACK_ADDED(s[n]);
  }
}
#undef RNNPACK_ADDED

template <size_t kColumns>
RNNPACK_NOINLINE void sums_of_columns(const int32_t *x, const uint8_t *panel, size_t k, size_t stride, uint32_t *sums) {
  uint32_t s[kColumns] = {};
  const int32_t *const end = x + k;
  if (kColumns == 4) {  // registers are left
    for (const int32_t *last = x + k / 4 * 4; x != last; x += 4) {
      add_fixed_products<kColumns>(x[0], panel, s);
      panel += stride;
      add_fixed_products<kColumns>(x[1], panel, s);
      panel += stride;
      add_fixed_products<kColumns>(x[2], panel, s);
      panel += stride;
      add_fixed_products<kColumns>(x[3], panel, s);
      panel += stride;
    }
  }
  for (; x != end; panel += stride) add_fixed_products<kColumns>(*x++, panel, s);
  RNNPACK_UNROLL
  for (size_t n = 0; n < kColumns; ++n) sums[n] = s[n];
}

// Of the first columns of `left`, a multiple of 4; returns how many.
RNNPACK_INLINE size_t fixed_sums(const int32_t *x, const uint8_t *panel, size_t k, size_t stride, size_t left, uint32_t *sums) {
  if (left >= kMostColumns) return sums_of_columns<kMostColumns>(x, panel, k, stride, sums), kMostColumns;
  if (kMostColumns > 8 && left >= 8) return sums_of_columns<8>(x, panel, k, stride, sums), 8;
  return sums_of_columns<4>(x, panel, k, stride, sums), 4;
}

}  // namespace
}  // namespace rnnp
#endif  // __ARM_ARCH_6M__
#endif  // RNNPACK_KERNELS_FIXED_SUMS_H_
