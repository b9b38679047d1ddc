// gemm_i4_ref.cpp -- the gemm rows of panels with groups of k, int4 and int8, in plain loops: every CPU runs them, every other row
// is tested against them. Room: kernels. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int4"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_rows_ref.h"
#include "kernels/gemm_ref.h"
#include "kernels/inlining.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// Weight k of the column whose first four bytes in each row of so many columns are `column`: of int4 the halves of bytes.
int32_t group_weight(const uint8_t *column, size_t row, size_t k, bool is_byte) {
  if (is_byte) return static_cast<int8_t>(column[k / 4 * row * 4 + k % 4]);
  const uint8_t byte = column[k / 8 * row * 4 + k % 4];
  return (k % 8 < 4 ? byte & 15 : byte >> 4) - 8;
}

RNNPACK_NOINLINE void ref_gemm_groups(const GemmArgs *args, uint32_t nr, bool is_byte) {
  const size_t row = size_t{args->w.gates} * nr, steps = is_byte ? (size_t{args->w.k} + 3) / 4 : (size_t{args->w.k} + 7) / 8;
  const size_t group_k = args->w.group_k, groups = (args->w.k + group_k - 1) / group_k;
  int8_t *bytes = static_cast<int8_t *>(args->scratch);
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a = ref_row(args->a, m, args->a_row_bytes);
    const float step = ref_quantise_row(*args, a, bytes);
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const uint8_t *panel = static_cast<const uint8_t *>(args->w.panels) + tile * steps * row * 4;
      for (size_t n = 0; n < row && ref_is_written(*args, tile * row + n); ++n) {
        float total = 0.0f;
        for (size_t group = 0; group < groups; ++group) {
          int32_t sum = 0;
          for (size_t k = group * group_k; k < args->w.k && k < (group + 1) * group_k; ++k)
            sum += bytes[k] * group_weight(panel + n * 4, row, k, is_byte);
          total += static_cast<float>(sum) * args->w.scales[(tile * groups + group) * row + n];
        }
        const size_t column = tile * row + n, unit = tile * nr + n % nr;
        float value = total * step + ref_start(*args, m, tile, n, row);
        if (args->w.diagonal != nullptr && unit < args->w.k) value += a[unit] * args->w.diagonal[column];
        *ref_out(*args, m, tile, n, row) = value;
      }
    }
  }
}

template <DType kWeight, uint32_t kNr>
void ref_gemm_group(const GemmArgs *args) {
  ref_gemm_groups(args, kNr, kWeight == DType::kI8);
}

}  // namespace

#define RNNPACK_IN_gemm_i4_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_gemm_group<DType::dtype, nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
