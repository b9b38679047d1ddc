// gemm_dot_simd128.cpp -- the gemm row of bf16 products by multiply-adds of simd128: vec_simd128.h put under gemm_dot_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_SIMD128
#define RNNPACK_SET simd128
#include "kernels/kernel_rows.h"
#include "kernels/vec_simd128.h"

namespace rnnp::simd128 {
namespace {

// As rounded_to_bf16 (bf16_rows.h).
RNNPACK_INLINE Vec::F round_lanes(Vec::F x) {
  const v128_t high = wasm_i32x4_splat(INT32_MIN >> 15);
  const v128_t last = wasm_v128_and(wasm_u32x4_shr(x, 16), wasm_i32x4_splat(1));
  const v128_t rounded = wasm_v128_and(wasm_i32x4_add(wasm_i32x4_add(x, wasm_i32x4_splat(0x7fff)), last), high);
  const v128_t nan = wasm_v128_and(wasm_v128_or(x, wasm_i32x4_splat(0x00400000)), high);
  const v128_t of_number = wasm_v128_bitselect(rounded, nan, wasm_f32x4_eq(x, x));
  const v128_t small = wasm_i32x4_eq(wasm_v128_and(x, wasm_i32x4_splat(0x7f800000)), wasm_i32x4_splat(0));
  return wasm_v128_bitselect(wasm_v128_and(x, wasm_i32x4_splat(INT32_MIN)), of_number, small);
}

}  // namespace
}  // namespace rnnp::simd128

// The vector words come before the bodies that use them.
#include "kernels/dot_words.h"
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_simd128 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) simd128::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
