// gemm_i8_neondot.cpp -- the gemm rows of int8 panels for NEON with dot products: four products of bytes to a lane at once, factors
// taken by lane. Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch,
// no initialisers. Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEONDOT
#include "kernels/byte_dot_neondot.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

struct Int : ByteDot {
  static constexpr int kMostRows = 4, kSums = 8, kMostVectors = 4, kTurns = 1, kGroups = 4;

  template <int kGroup, int kVectors>
  static RNNPACK_INLINE void add_lane(I (&sum)[kVectors], int8x16_t factors, const uint8_t *panel) {
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = vdotq_laneq_s32(sum[v], bytes_at(panel + v * 16), factors, kGroup);
  }
  template <int kVectors>
  static RNNPACK_INLINE void add_groups(I (&sum)[kVectors], const uint8_t *a, const uint8_t *panel, size_t panel_k) {
    const int8x16_t factors = bytes_at(a);
    add_lane<0>(sum, factors, panel);
    add_lane<1>(sum, factors, panel + panel_k);
    add_lane<2>(sum, factors, panel + 2 * panel_k);
    add_lane<3>(sum, factors, panel + 3 * panel_k);
  }
};

}  // namespace
}  // namespace rnnp

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_neondot , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_i8_neondot

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEONDOT
