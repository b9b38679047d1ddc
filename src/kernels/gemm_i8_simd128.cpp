// gemm_i8_simd128.cpp -- the gemm rows of int8 panels for WebAssembly's simd128: bytes widened to 16 bits, pairs of products to 32.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; docs/KERNELS.md, "Int8"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_SIMD128
#define RNNPACK_SET simd128
#include "kernels/vec_simd128.h"
// After the vectors, whose words it uses.
#include "kernels/byte_floats.h"
#include "kernels/kernel_rows.h"

namespace rnnp::simd128 {
namespace {

struct Int : RowFloats {
  // Four units; of each, two sums.
  struct I {
    v128_t low, high;
  };
  static constexpr int kMostRows = 2, kZero = 0, kSums = 4, kMostVectors = 4, kTurns = 1, kGroups = 1, kPairs = 0, kSharesPanel = 0;

  static RNNPACK_INLINE v128_t bytes_of(Vec::F v) {
    const v128_t cut = Vec::min(Vec::max(v, Vec::set1(-127.0f)), Vec::set1(127.0f));
    return wasm_v128_andnot(wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(cut)), Vec::is_nan(v));
  }
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int zero, uint8_t *to) {
    const v128_t scale = Vec::set1(to_byte), zeros = wasm_i8x16_splat(static_cast<int8_t>(zero));
    for (size_t i = 0; i < (k + 63) / 64 * 64; i += 8) {
      const v128_t words =
          wasm_i16x8_narrow_i32x4(bytes_of(Vec::mul(load(a, k, i), scale)), bytes_of(Vec::mul(load(a, k, i + 4), scale)));
      wasm_v128_store64_lane(to + i, wasm_i8x16_add(wasm_i8x16_narrow_i16x8(words, words), zeros), 0);
    }
  }

  // Four bytes of a row, twice, as 16 bits.
  static RNNPACK_INLINE v128_t broadcast(const uint8_t *four) { return wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(four)); }
  static RNNPACK_INLINE I zero() { return {wasm_i32x4_splat(0), wasm_i32x4_splat(0)}; }
  static RNNPACK_INLINE I add(I a, I b) { return {wasm_i32x4_add(a.low, b.low), wasm_i32x4_add(a.high, b.high)}; }
  static RNNPACK_INLINE void add_dot(I *sum, v128_t factor, const uint8_t *weights) {
    const v128_t w = wasm_v128_load(weights);
    sum->low = wasm_i32x4_add(sum->low, wasm_i32x4_dot_i16x8(wasm_i16x8_extend_low_i8x16(w), factor));
    sum->high = wasm_i32x4_add(sum->high, wasm_i32x4_dot_i16x8(wasm_i16x8_extend_high_i8x16(w), factor));
  }
  static RNNPACK_INLINE v128_t to_float(I sum, const int32_t *) {
    const v128_t even = wasm_i32x4_shuffle(sum.low, sum.high, 0, 2, 4, 6), odd = wasm_i32x4_shuffle(sum.low, sum.high, 1, 3, 5, 7);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_add(even, odd));
  }
};
using Bytes = Int;

}  // namespace
}  // namespace rnnp::simd128

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_simd128 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) simd128::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_SIMD128
