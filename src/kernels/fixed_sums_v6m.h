// fixed_sums_v6m.h -- the sums of bytes times bytes on ARMv6-M (Cortex-M0, M0+), which has eight registers for most of its
// instructions and no multiply-add. A load takes two neighbouring weights: low + 256 high. Their product with x and that of the
// low one alone are added up; what they differ by is 256 times the high one's sum. Room: kernels; part of fixed_sums.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FIXED_SUMS_V6M_H_
#define RNNPACK_KERNELS_FIXED_SUMS_V6M_H_

#include "kernels/inlining.h"

#ifdef __ARM_ARCH_6M__
namespace rnnp {
namespace {

constexpr size_t kMostColumns = 4;
// 24 bits hold so many products of up to 127 x 255, with their sign.
constexpr size_t kMostK = 256;

// Of columns 0 and 1, 2 and 3: the sums of both weights, and of the lower one.
struct PairSums {
  uint32_t both0, low0, both1, low1;
};

#define PAIR(offset, both, low)                                                            \
  "ldrh %[h], [%[p], #" offset "]\n\tuxtb %[t], %[h]\n\tmuls %[t], %[v], %[t]\n\tadd " low \
  ", %[t]\n\tmuls %[h], %[v], %[h]\n\t"                                                    \
  "add " both ", %[h]\n\t"
#define ONE_K(x, first, second) "ldr %[v], [%[x], #" #x "]\n\t" PAIR(first, "r8", "r9") PAIR(second, "r10", "r11")
#define KEEP(high, at) "mov %[t], " high "\n\tstr %[t], [%[sums], #" at "]\n\t"
#define GIVE(high, at) \
  "mov %[t], " high "\n\tldr %[v], [%[sums], #" at "]\n\tmov " high ", %[v]\n\tstr %[t], [%[sums], #" at "]\n\t"

// Four k a turn, as many turns as fit; rows of the panel are kStride bytes apart. The sums are in high registers, which GCC knows
// nothing of where it compiles for size: what they hold waits in *sums.
template <size_t kStride>
RNNPACK_NOINLINE void add_quads(const int32_t *x, const int32_t *end, const uint8_t *panel, PairSums *sums) {
  const int32_t *v = end;
  uint32_t h, t;
  __asm__ volatile(
      ".syntax unified\n\t"
      "mov r12, %[v]\n\t" KEEP("r8", "0") KEEP("r9", "4") KEEP("r10", "8") KEEP("r11", "12")
          "movs %[t], #0\n\tmov r8, %[t]\n\tmov r9, %[t]\n\tmov r10, %[t]\n\tmov r11, %[t]\n"
          "1:\n\t" ONE_K(0, "0", "2") ONE_K(4, "%c[s1]", "%c[s1]+2") ONE_K(8, "%c[s2]", "%c[s2]+2")
              ONE_K(12, "%c[s3]", "%c[s3]+2") "adds %[p], #%c[s4]\n\tadds %[x], #16\n\tcmp %[x], r12\n\tbne 1b\n\t"
      GIVE("r8", "0") GIVE("r9", "4") GIVE("r10", "8") GIVE("r11", "12")
      : [x] "+l"(x), [p] "+l"(panel), [v] "+l"(v), [sums] "+l"(sums), [h] "=&l"(h), [t] "=&l"(t)
      : [s1] "i"(kStride), [s2] "i"(2 * kStride), [s3] "i"(3 * kStride), [s4] "i"(4 * kStride)
      : "r12", "cc", "memory");
}
#undef GIVE
#undef KEEP
#undef ONE_K
#undef PAIR

using AddQuads = void (*)(const int32_t *, const int32_t *, const uint8_t *, PairSums *);

// Of some k, onto sums.
RNNPACK_NOINLINE void add_single_k(const int32_t *x, const uint8_t *panel, size_t k, size_t stride, uint32_t *sums) {
  for (; k != 0; --k, ++x, panel += stride) {
    for (size_t n = 0; n < kMostColumns; ++n) sums[n] += static_cast<uint32_t>(int32_t{panel[n]} * *x);
  }
}

RNNPACK_NOINLINE size_t fixed_sums(const int32_t *x, const uint8_t *panel, size_t k, size_t stride, size_t, uint32_t *sums) {
  constexpr AddQuads kAdds[] = {add_quads<4>, add_quads<8>, add_quads<12>, add_quads<16>};
  sums[0] = sums[1] = sums[2] = sums[3] = 0;
  for (size_t quads = stride <= 16 ? k & ~size_t{3} : 0; quads != 0;) {
    const size_t some = quads < kMostK ? quads : kMostK;
    PairSums pairs;
    kAdds[stride / 4 - 1](x, x + some, panel, &pairs);
    sums[0] += pairs.low0;
    sums[1] += static_cast<uint32_t>(static_cast<int32_t>(pairs.both0 - pairs.low0) >> 8);
    sums[2] += pairs.low1;
    sums[3] += static_cast<uint32_t>(static_cast<int32_t>(pairs.both1 - pairs.low1) >> 8);
    x += some, panel += some * stride, quads -= some, k -= some;
  }
  if (k != 0) add_single_k(x, panel, k, stride, sums);
  return kMostColumns;
}

}  // namespace
}  // namespace rnnp
#endif  // __ARM_ARCH_6M__
#endif  // RNNPACK_KERNELS_FIXED_SUMS_V6M_H_
