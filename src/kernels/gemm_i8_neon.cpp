// gemm_i8_neon.cpp -- the gemm rows of int8 panels for NEON without dot products: products of bytes in 16 bits, two k groups added
// there before they are widened. That fits: bytes and weights lie between -127 and 127 (docs/KERNELS.md, "Int8"), and two products
// add up to 2 * 127 * 127 = 32258 at most, below 2^15. Room: kernels; compiled with this instruction set's flags, so it holds
// kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEON
#define RNNPACK_SET neon
#include "kernels/byte_dot_neon.h"
#include "kernels/kernel_rows.h"

namespace rnnp::neon {
namespace {

struct Int : ByteDot {
#if defined(__aarch64__)
  static constexpr int kMostRows = 2;
#else
  static constexpr int kMostRows = 1;
#endif
  static constexpr int kSums = 4, kMostVectors = 4, kTurns = 1, kGroups = 2, kPairs = 0, kSharesPanel = 0;

  template <int kVectors>
  static RNNPACK_INLINE void add_groups(I (&sum)[kVectors], const uint8_t *a, const uint8_t *panel, size_t panel_k) {
    const int8x16_t first = broadcast(a), second = broadcast(a + 4);
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int8x16_t w0 = bytes_at(panel + v * 16), w1 = bytes_at(panel + panel_k + v * 16);
      const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(w0), vget_low_s8(first)), vget_low_s8(w1), vget_low_s8(second));
      const int16x8_t high = add_high_products(high_products(w0, first), w1, second);
      sum[v].low = vpadalq_s16(sum[v].low, low);
      sum[v].high = vpadalq_s16(sum[v].high, high);
    }
  }
};

}  // namespace
}  // namespace rnnp::neon

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEON
