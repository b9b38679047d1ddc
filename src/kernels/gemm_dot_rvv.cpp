// gemm_dot_rvv.cpp -- the gemm row of bf16 products by multiply-adds of the vector extension: vec_rvv.h put under gemm_dot_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVV
#define RNNPACK_SET rvv
#include "kernels/kernel_rows.h"
#include "kernels/vec_rvv.h"

namespace rnnp::rvv {
namespace {

// As rounded_to_bf16 (bf16_rows.h).
RNNPACK_INLINE Vec::F round_lanes(Vec::F x) {
  typedef uint32_t Bits __attribute__((ext_vector_type(16)));
  const Bits bits = reinterpret_cast<Bits>(x);
  const Bits rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u, nan = (bits | 0x00400000u) & 0xffff0000u;
  const Bits of_number = x == x ? rounded : nan;
  return reinterpret_cast<Vec::F>((bits & 0x7f800000u) == 0u ? bits & 0x80000000u : of_number);
}

}  // namespace
}  // namespace rnnp::rvv

// The vector words come before the bodies that use them.
#include "kernels/dot_words.h"
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_rvv , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) rvv::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
