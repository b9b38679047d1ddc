// gemm_bsr_avx512vnni.cpp -- the gemm rows of sparse panels for AVX-512 with VNNI.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512VNNI
#define RNNPACK_SET avx512vnni
#include "kernels/byte_dot_avx512vnni.h"
#include "kernels/kernel_rows.h"
#include "pack/panel_format.h"

namespace rnnp::avx512vnni {
namespace {

struct Words : ByteDot {
  static constexpr int kMostRows = 4, kChains = 4;
  using Factor = I;
  struct Factors {
    I of[1];
  };

  static RNNPACK_INLINE const int32_t *word(const uint8_t *row, uint64_t quad) {
    return static_cast<const int32_t *>(static_cast<const void *>(row + quad * kBlockK));
  }
  // Spelt out: compilers take such words through a general register.
  static RNNPACK_INLINE void put(I *factor, __mmask16 where, const uint8_t *row, uint64_t quad) {
    __asm__("vpbroadcastd %1, %0%{%2%}" : "+v"(*factor) : "m"(*word(row, quad)), "Yk"(where));
  }
  template <int kStrips>
  static RNNPACK_INLINE Factors factors(const uint8_t *row, const uint16_t *quad) {
    uint64_t quads = 0;  // one load for all
    __builtin_memcpy(&quads, quad, kStrips * sizeof *quad);
    Factors f = {{broadcast(row + (quads & 0xffff) * kBlockK)}};
    if constexpr (kStrips == 2) {
      put(&f.of[0], 0xff00, row, quads >> 16);
    } else if constexpr (kStrips == 4) {
      put(&f.of[0], 0x00f0, row, quads >> 16 & 0xffff);
      put(&f.of[0], 0x0f00, row, quads >> 32 & 0xffff);
      put(&f.of[0], 0xf000, row, quads >> 48);
    }
    return f;
  }
};

}  // namespace
}  // namespace rnnp::avx512vnni

#include "kernels/byte_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_bsr_avx512vnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512vnni::gemm_bsr_run<avx512vnni::ByteEntries>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512VNNI
