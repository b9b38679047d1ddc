// gemm_i8_neondot.cpp -- the gemm rows of int8 panels for NEON with dot products: four products of bytes to a lane at once, factors
// taken by lane. Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch,
// no initialisers. Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEONDOT
#define RNNPACK_SET neondot
#include "kernels/byte_dot_neondot.h"
#include "kernels/kernel_rows.h"

namespace rnnp::neondot {
namespace {

struct Int : ByteDot {
  static constexpr int kMostRows = 4, kSums = 8, kMostVectors = 4, kTurns = 1, kGroups = 4, kPairs = 0, kSharesPanel = 0;
};

}  // namespace
}  // namespace rnnp::neondot

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_neondot , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neondot::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEONDOT
