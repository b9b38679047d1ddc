// gemm_dot_ref.cpp -- the gemm rows of bf16 panels whose rows are rounded to bf16, in plain loops: the definition that every other
// row is tested against. Room: kernels. Contract: kernels.h, GemmArgs; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/bf16_rows.h"
#include "kernels/gemm_ref.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// Column n of a panel: the products of one block of k, added to sum.
float add_dot_block(const float *a, const uint16_t *panel, size_t row, size_t count, float sum) {
  float of[2] = {0.0f, 0.0f};
  for (size_t k = 0; k < count; ++k) of[k % 2] += rounded_to_bf16(a[k]) * ref_from_bf16(panel[k / 2 * row * 2 + k % 2]);
  // What fills the block up: a sum that was rounded to -0 becomes 0.
  if (count < kDotBlock) of[1] += 0.0f;
  if (count + 1 < kDotBlock) of[0] += 0.0f;
  return sum + (of[0] + of[1]);
}

template <uint32_t kNr>
void ref_dot(const GemmArgs *args) {
  const size_t row = size_t{args->w.gates} * kNr, places = (size_t{args->w.k} + 1) / 2 * 2;
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a = ref_row(args->a, m, args->a_row_bytes);
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const uint16_t *panel = static_cast<const uint16_t *>(args->w.panels) + tile * places * row;
      for (size_t n = 0; n < row && ref_is_written(*args, tile * row + n); ++n) {
        float sum = ref_start(*args, m, tile, n, row);
        for (size_t k = 0; k < args->w.k; k += kDotBlock) {
          const size_t left = args->w.k - k;
          sum = add_dot_block(a + k, panel + k * row + n * 2, row, left < kDotBlock ? left : kDotBlock, sum);
        }
        *ref_out(*args, m, tile, n, row) = sum;
      }
    }
  }
}

}  // namespace

#define RNNPACK_IN_gemm_dot_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_dot<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
