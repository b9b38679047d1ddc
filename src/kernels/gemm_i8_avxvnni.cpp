// gemm_i8_avxvnni.cpp -- the gemm rows of int8 panels for AVX-VNNI: four products of bytes to a lane at once.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVXVNNI
#define RNNPACK_SET avxvnni
#include "kernels/byte_dot_avxvnni.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avxvnni {
namespace {

struct Int : ByteDot {
  static constexpr int kMostRows = 2, kSums = 8, kMostVectors = 8, kTurns = 2, kGroups = 1, kPairs = 0, kSharesPanel = 0;
};

}  // namespace
}  // namespace rnnp::avxvnni

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_avxvnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avxvnni::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVXVNNI
