// fixed_sums_v6m.h -- the sums of bytes times bytes on ARMv6-M (Cortex-M0, M0+), which has eight registers for most of its
// instructions and no multiply-add. A load takes two neighbouring weights: low + 256 high. Their product with x and that of the
// low one alone are added up; what they differ by is 256 times the high one's sum. Room: kernels; part of fixed_sums.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FIXED_SUMS_V6M_H_
#define RNNPACK_KERNELS_FIXED_SUMS_V6M_H_

#include "kernels/compiler.h"

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
#define ONE_K(x, first, second) \
  "ldr %[v], [%[x], #" #x "]\n\t" PAIR(first, "%[both0]", "%[low0]") PAIR(second, "%[both1]", "%[low1]")

// Four k a turn, as many turns as fit; rows of the panel are kStride bytes apart.
template <size_t kStride>
RNNPACK_NOINLINE void add_quads(const int32_t *x, const int32_t *end, const uint8_t *panel, PairSums *sums) {
  uint32_t both0 = 0, low0 = 0, both1 = 0, low1 = 0, v, h, t;
  __asm__ volatile(
      ".syntax unified\n"
      "1:\n\t" ONE_K(0, "0", "2") ONE_K(4, "%c[s1]", "%c[s1]+2") ONE_K(8, "%c[s2]", "%c[s2]+2")
          ONE_K(12, "%c[s3]", "%c[s3]+2") "adds %[p], #%c[s4]\n\tadds %[x], #16\n\tcmp %[x], %[end]\n\tbne 1b\n"
      : [both0] "+h"(both0), [low0] "+h"(low0), [both1] "+h"(both1), [low1] "+h"(low1), [x] "+l"(x), [p] "+l"(panel), [v] "=&l"(v),
        [h] "=&l"(h), [t] "=&l"(t)
      : [end] "h"(end), [s1] "i"(kStride), [s2] "i"(2 * kStride), [s3] "i"(3 * kStride), [s4] "i"(4 * kStride)
      : "cc", "memory");
  *sums = {both0, low0, both1, low1};
}
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
#endif  // RNNPACK_KERNELS_FIXED_SUMS_V6M_H_
