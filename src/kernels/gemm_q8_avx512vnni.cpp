// gemm_q8_avx512vnni.cpp -- the gemm rows of int8 panels with a scale for each group of k, for AVX-512 with VNNI.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512VNNI
#define RNNPACK_SET avx512vnni_q8
#include "kernels/bytes_avx512.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avx512vnni_q8 {
namespace {

// The instruction wants one side without a sign: the weights, 128 too large.
struct GroupDot : Bytes {
  static constexpr int kMostRows = 2, kMostVectors = 4;
  static constexpr int32_t kExcess = 128;
  static constexpr size_t kStepK = 4;

  static size_t tile_width(const GemmArgs &g) { return size_t{g.w.gates} * 16; }
  static RNNPACK_INLINE I minus(int32_t v) { return _mm512_set1_epi32(-v); }
  static RNNPACK_INLINE __m512 to_float(I sum) { return _mm512_maskz_cvtepi32_ps(kAll, sum); }

  struct Weights {
    I values;
    RNNPACK_INLINE explicit Weights(const uint8_t *p)
        : values(_mm512_xor_si512(_mm512_loadu_si512(p), _mm512_set1_epi8(static_cast<char>(-128)))) {}
  };
  struct Partial {
    I sum;
    RNNPACK_INLINE void clear() { sum = _mm512_setzero_si512(); }
    // Spelt out: GCC 12 copies the sum before each intrinsic.
    RNNPACK_INLINE void add(I weights, I factor) { __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(weights), "v"(factor)); }
    RNNPACK_INLINE I added_to(I other) const { return _mm512_add_epi32(other, sum); }
  };
  static RNNPACK_INLINE void add_step(Partial *part, const Weights &w, const uint8_t *a) { part->add(w.values, broadcast(a)); }
};

}  // namespace
}  // namespace rnnp::avx512vnni_q8

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_q8_avx512vnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512vnni_q8::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512VNNI
