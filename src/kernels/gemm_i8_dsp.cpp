// gemm_i8_dsp.cpp -- the gemm rows of int8 panels for Cortex-M cores with the DSP extension and an FPU: two products a SMLAD. Rows
// are kept in 16 bits, as weights become when they are widened, two at a time: k and k + 2, then k + 1 and k + 3. Room: kernels;
// compiled for such a CPU, so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in
// kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_DSP
#define RNNPACK_SET dsp
#include "kernels/kernel_rows.h"
#include "kernels/largest_finite.h"
#include "kernels/vec_vfpv4.h"

namespace rnnp::dsp {
namespace {

// Assembler text: four k of the four units of a gate. TWO: of two of them.
#define UNIT(weights, sum)                                                                                                     \
  "sxtb16 %[t], " weights "\n\tsmlad " sum ", %[t], %[even], " sum "\n\tsxtb16 " weights ", " weights ", ror #8\n\tsmlad " sum \
  ", " weights ", %[odd], " sum "\n\t"
#define TWO(offset, sum0, sum1) "ldrd %[w0], %[w1], [%[p], #" #offset "]\n\t" UNIT("%[w0]", sum0) UNIT("%[w1]", sum1)
#define GROUP \
  "ldrd %[even], %[odd], [%[a]], #8\n\t" TWO(0, "%[s0]", "%[s1]") TWO(8, "%[s2]", "%[s3]") "add %[p], %[p], %[stride]\n\t"

struct Bytes {
  // A gate at a time: sixteen k a turn, then four. One block of text, because compilers move its thirteen registers about.
  static RNNPACK_NOINLINE void dot(const uint8_t *a, const uint8_t *panel, size_t groups, size_t gates, int32_t *sums) {
    const uint8_t *const sixteen = a + groups / 4 * 32, *const end = a + groups * 8;
    const size_t stride = gates * 16;
    for (const uint8_t *last = panel + stride; panel != last; panel += 16, sums += 4) {
      const uint8_t *factors = a, *weights = panel, *stop;
      int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, even, odd, w0, w1, t;
      __asm__ volatile(
          "ldr %[stop], %[sixteen]\n\tcmp %[a], %[stop]\n\tbeq 2f\n"
          "1:\n\t" GROUP GROUP GROUP GROUP
          "cmp %[a], %[stop]\n\tbne 1b\n"
          "2:\n\tldr %[stop], %[end]\n\tcmp %[a], %[stop]\n\tbeq 4f\n"
          "3:\n\t" GROUP
          "cmp %[a], %[stop]\n\tbne 3b\n"
          "4:"
          : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [a] "+r"(factors), [p] "+r"(weights), [even] "=&r"(even),
            [odd] "=&r"(odd), [w0] "=&r"(w0), [w1] "=&r"(w1), [t] "=&r"(t), [stop] "=&r"(stop)
          : [stride] "r"(stride), [sixteen] "m"(sixteen), [end] "m"(end)
          : "cc", "memory");
      sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
    }
  }
  static RNNPACK_INLINE float to_float(const int32_t *sum) { return static_cast<float>(*sum); }

  static RNNPACK_INLINE float largest(const float *a, size_t k) { return largest_finite(a, k); }
  // The nearest integer, halves to the even one, of minus v; NaN gives 0. Saturated on both sides of zero: -127 to 127.
  static RNNPACK_INLINE int32_t byte_of_minus(float v) {
    int32_t q;
    __asm__("vcvtr.s32.f32 %0, %0" : "+t"(v));
    __builtin_memcpy(&q, &v, sizeof q);
    __asm__("ssat %0, #8, %0\n\trsb %0, %0, #0\n\tssat %0, #8, %0" : "+r"(q));
    return q;
  }
  static RNNPACK_INLINE uint32_t pair(int32_t low, int32_t high) {
    return (static_cast<uint32_t>(low) & 0xffffu) | static_cast<uint32_t>(high) << 16;
  }
  static void quantise(const float *a, size_t k, float to_byte, int, uint8_t *to) {
    uint32_t *pairs = static_cast<uint32_t *>(static_cast<void *>(to));
    for (const float *end = a + k; a < end; a += 4, pairs += 2) {
      float tail[4] = {};
      const float *four = a;
      if (end - a < 4) {
        for (size_t i = 0; i < k % 4; ++i) tail[i] = a[i];
        four = tail;
      }
      pairs[0] = pair(byte_of_minus(four[0] * -to_byte), byte_of_minus(four[2] * -to_byte));
      pairs[1] = pair(byte_of_minus(four[1] * -to_byte), byte_of_minus(four[3] * -to_byte));
    }
  }
};

}  // namespace
}  // namespace rnnp::dsp

// The words come before the body that uses them.
#include "kernels/gemm_i8_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_dsp , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) dsp::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_DSP
