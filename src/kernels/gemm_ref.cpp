// gemm_ref.cpp -- the gemm rows in plain loops: every CPU runs them, every other row is tested against them.
// Room: kernels. Contract: kernels.h, GemmArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

void sum_rows(const GemmArgs *args, uint32_t row_elems) {
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a =
        static_cast<const float *>(static_cast<const void *>(reinterpret_cast<const char *>(args->a) + m * args->a_row_bytes));
    float *out = static_cast<float *>(static_cast<void *>(reinterpret_cast<char *>(args->out) + m * args->out_row_bytes));
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const float *panel = args->panels + size_t{tile} * args->k * row_elems;
      for (uint32_t n = 0; n < row_elems; ++n) {
        const size_t column = size_t{tile} * row_elems + n;
        if (args->units != 0 && column >= args->units) break;
        float sum = args->bias ? args->bias[column] : 0.0f;
        for (uint32_t k = 0; k < args->k; ++k) sum += a[k] * panel[size_t{k} * row_elems + n];
        out[column] = sum;
      }
    }
  }
}

template <uint32_t kRow>
void ref_gemm(const GemmArgs *args) {
  sum_rows(args, kRow);
}

}  // namespace

#define RNNPACK_IN_gemm_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, nr) ref_gemm<gemm_gates(KernelFamily::family) * nr>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_ref

}  // namespace rnnp
