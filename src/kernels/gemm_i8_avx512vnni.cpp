// gemm_i8_avx512vnni.cpp -- the gemm rows of int8 panels for AVX-512 with VNNI: four products of bytes to a lane at once.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512VNNI
#define RNNPACK_SET avx512vnni
#include "kernels/byte_dot_avx512vnni.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avx512vnni {
namespace {

struct Int : ByteDot {
  static constexpr int kMostRows = 4, kSums = 8, kMostVectors = 4, kTurns = 1, kGroups = 1, kPairs = 0, kSharesPanel = 1;
};

}  // namespace
}  // namespace rnnp::avx512vnni

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_avx512vnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512vnni::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512VNNI
