// gemm_i8_amxint8.cpp -- the gemm row of int8 panels for AMX: tiles of 16 rows and 16 units, for eight rows and more; fewer are the
// VNNI row's. Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no
// initialisers. Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_AMXINT8) && defined(RNNPACK_HAVE_AVX512VNNI) && defined(__x86_64__)
#define RNNPACK_SET amxint8
#include "kernels/byte_dot_avx512vnni.h"
#include "kernels/kernel_rows.h"
#include "kernels/tiles_amx.h"

namespace rnnp::amxint8 {
namespace {

using Int = ByteDot;

struct TileProduct {
  template <int kSums, int kA, int kB>
  static RNNPACK_INLINE void add() {
    Tiles::add_dots<kSums, kA, kB>();
  }
};

}  // namespace
}  // namespace rnnp::amxint8

// The words come before the body that uses them.
#include "kernels/gemm_i8_tiles_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::amxint8 {
namespace {

// Of no rows: tiles are touched, and nothing else (runtime/warm_threads.h).
void run(const GemmArgs *args) {
  if (args->rows == 0) return touch_tiles();
  if (args->rows < kFewestTileRows) return kKernel_gemm_i8_nr16_avx512vnni.gemm(args);
  gemm_i8_tiles_run(args);
}

}  // namespace
}  // namespace rnnp::amxint8

namespace rnnp {

#define RNNPACK_IN_gemm_i8_amxint8 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) amxint8::run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AMXINT8
