// gemm_i8_rvv.cpp -- the gemm rows of int8 panels for RISC-V vectors: bytes of sixteen units at a time, two products in 16 bits
// before they are widened (2 * 127 * 127 < 2^15).
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; docs/KERNELS.md, "Int8"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVV
#define RNNPACK_SET rvv
#include "kernels/vec_rvv.h"
// After the vectors, whose words it uses.
#include "kernels/byte_floats.h"
#include "kernels/kernel_rows.h"

namespace rnnp::rvv {
namespace {

struct Int : RowFloats {
  using I = Vec::M;
  typedef int8_t Units __attribute__((ext_vector_type(16)));
  typedef int8_t UnitsAnywhere __attribute__((ext_vector_type(16), aligned(1), may_alias));
  typedef int8_t Columns __attribute__((ext_vector_type(64), aligned(1), may_alias));
  typedef int16_t Products __attribute__((ext_vector_type(16)));
  // Four bytes of a row.
  struct Factor {
    int16_t k[4];
  };
  static constexpr int kMostRows = 1, kZero = 0, kSums = 4, kMostVectors = 4, kTurns = 1, kGroups = 1, kPairs = 0, kSharesPanel = 0;

  static RNNPACK_INLINE Units bytes_of(Vec::F v) {
    const Vec::F ones = 12582912.0f;  // 1.5 * 2^23: the last place is worth 1
    const Vec::F cut = Vec::min(Vec::max(v, Vec::set1(-127.0f)), Vec::set1(127.0f));
    const I whole = reinterpret_cast<I>(cut + ones) - reinterpret_cast<I>(ones);
    return __builtin_convertvector(Vec::is_nan(v) ? I{} : whole, Units);
  }
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int zero, uint8_t *to) {
    const Vec::F scale = Vec::set1(to_byte);
    for (size_t i = 0; i < (k + 63) / 64 * 64; i += 16) {
      *static_cast<UnitsAnywhere *>(static_cast<void *>(to + i)) =
          bytes_of(Vec::mul(load(a, k, i), scale)) + static_cast<int8_t>(zero);
    }
  }

  static RNNPACK_INLINE Factor broadcast(const uint8_t *four) {
    Factor f;
    for (int i = 0; i < 4; ++i) f.k[i] = static_cast<int8_t>(four[i]);
    return f;
  }
  static RNNPACK_INLINE I zero() { return I{}; }
  static RNNPACK_INLINE I add(I a, I b) { return a + b; }
  static RNNPACK_INLINE Products times(Units w, int16_t x) { return __builtin_convertvector(w, Products) * Products(x); }
  static RNNPACK_INLINE void add_dot(I *sum, Factor x, const uint8_t *weights) {
    const Columns all = *static_cast<const Columns *>(static_cast<const void *>(weights));
    const Units w0 = __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    const Units w1 = __builtin_shufflevector(all, all, 1, 5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 53, 57, 61);
    const Units w2 = __builtin_shufflevector(all, all, 2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54, 58, 62);
    const Units w3 = __builtin_shufflevector(all, all, 3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 51, 55, 59, 63);
    *sum += __builtin_convertvector(times(w0, x.k[0]) + times(w1, x.k[1]), I);
    *sum += __builtin_convertvector(times(w2, x.k[2]) + times(w3, x.k[3]), I);
  }
  static RNNPACK_INLINE Vec::F to_float(I sum, const int32_t *) { return __builtin_convertvector(sum, Vec::F); }
};
using Bytes = Int;

}  // namespace
}  // namespace rnnp::rvv

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_rvv , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) rvv::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_RVV
