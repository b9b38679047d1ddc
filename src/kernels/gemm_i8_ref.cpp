// gemm_i8_ref.cpp -- the gemm rows of int8 panels in plain loops: every CPU runs them, every other row is tested against them.
// Room: kernels. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Bytes"; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_rows_ref.h"
#include "kernels/gemm_ref.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

template <uint32_t kNr>
void ref_gemm_i8(const GemmArgs *args) {
  const size_t row = size_t{args->gates} * kNr, groups = (size_t{args->k} + 3) / 4;
  int8_t *bytes = static_cast<int8_t *>(args->scratch);
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a = ref_row(args->a, m, args->a_row_bytes);
    const float step = ref_quantise_row(*args, a, bytes);
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const int8_t *panel = static_cast<const int8_t *>(args->panels) + tile * groups * row * 4;
      for (size_t n = 0; n < row && ref_is_written(*args, tile * row + n); ++n) {
        int32_t sum = 0;
        for (size_t k = 0; k < args->k; ++k) sum += bytes[k] * panel[(k / 4 * row + n) * 4 + k % 4];
        const size_t column = tile * row + n, unit = tile * kNr + n % kNr;
        float value = static_cast<float>(sum) * (args->scales[column] * step) + ref_start(*args, m, tile, n, row);
        if (args->diagonal != nullptr && unit < args->k) value += a[unit] * args->diagonal[column];
        *ref_out(*args, m, tile, n, row) = value;
      }
    }
  }
}

}  // namespace

#define RNNPACK_IN_gemm_i8_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_gemm_i8<nr>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_i8_ref

}  // namespace rnnp
