// gemm_i8_avx2.cpp -- the gemm rows of int8 panels for AVX2: products of bytes in pairs, which no packed weights make too large for
// 16 bits (docs/BLOB_FORMAT.md: two neighbours add up to 129 at most, times 254). Room: kernels; compiled with this instruction
// set's flags, so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/byte_dot_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avx2 {
namespace {

struct Int : ByteDot {
  static constexpr int kMostRows = 2, kSums = 2, kMostVectors = 8, kTurns = 2, kGroups = 1, kPairs = 0, kSharesPanel = 0;
};

}  // namespace
}  // namespace rnnp::avx2

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
