// gemm_i8_ref.cpp -- the gemm rows of int8 panels in plain loops: every CPU runs them, every other row is tested against them.
// Room: kernels. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Bytes"; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_ref.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

float largest_of(const float *a, size_t k) {
  float most = 0.0f;
  for (size_t i = 0; i < k; ++i) {
    const float size = a[i] < 0.0f ? -a[i] : a[i];
    if (size > most && size < __builtin_inff()) most = size;
  }
  return most;
}

// The nearest whole number of -127 to 127, halves to the even one; of NaN 0.
int8_t byte_of(float v) {
  if (!(v == v)) return 0;
  const float cut = v < -127.0f ? -127.0f : v > 127.0f ? 127.0f : v;
  const int whole = static_cast<int>(cut);
  const float rest = cut - static_cast<float>(whole), half = rest < 0.0f ? -rest : rest;
  const bool away = half > 0.5f || (half == 0.5f && whole % 2 != 0);
  return static_cast<int8_t>(away ? whole + (rest < 0.0f ? -1 : 1) : whole);
}

// Of a row in the scratch; returns what one of its bytes is worth.
float quantise_row(const GemmArgs &args, const float *a, int8_t *to) {
  constexpr float kLeast = 1e-30f;
  float to_byte = 0.0f, step = args.factor_scale;
  if (step != 0.0f) {
    to_byte = 1.0f / step;
  } else {
    const float largest = largest_of(a, args.k);
    if (largest >= kLeast) to_byte = 127.0f / largest, step = largest / 127.0f;
  }
  for (size_t k = 0; k < args.k; ++k) to[k] = byte_of(a[k] * to_byte);
  return step;
}

template <uint32_t kNr>
void ref_gemm_i8(const GemmArgs *args) {
  const size_t row = size_t{args->gates} * kNr, groups = (size_t{args->k} + 3) / 4;
  int8_t *bytes = static_cast<int8_t *>(args->scratch);
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a = ref_row(args->a, m, args->a_row_bytes);
    const float step = quantise_row(*args, a, bytes);
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
