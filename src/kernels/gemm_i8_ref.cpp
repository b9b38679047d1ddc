// gemm_i8_ref.cpp -- the gemm rows of int8 panels in plain loops: every CPU runs them, every other row is tested against them.
// Room: kernels. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int8"; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_rows_ref.h"
#include "kernels/gemm_ref.h"
#include "kernels/inlining.h"
#include "kernels/kernel_rows.h"
#include "pack/panel_format.h"

namespace rnnp {
namespace {

// How panels lie: KR k of a unit together; those of all gates after one another, or of one gate and then of the next.
struct Order {
  size_t nr, kr;
  bool apart, smlad;
};

// The four k at one place of the plain order.
inline int32_t ref_plain_product(const int8_t *bytes, const uint8_t *panel) {
  const int8_t *w = static_cast<const int8_t *>(static_cast<const void *>(panel));
  return bytes[0] * w[0] + bytes[1] * w[1] + bytes[2] * w[2] + bytes[3] * w[3];
}

// A row's bytes times a column: KR of its weights, and the next `stride` bytes on. CPUs without kernels of their own run the plain
// order here.
inline int32_t ref_product(const Order &o, const int8_t *bytes, const uint8_t *panel, size_t stride, size_t k) {
  int32_t sum = 0;
  size_t first = 0;
  if (o.kr == 4) {
    for (; first + 4 <= k; first += 4, panel += stride) sum += ref_plain_product(bytes + first, panel);
  }
  for (; first < k; first += o.kr, panel += stride) {
    for (size_t i = 0; i < o.kr && first + i < k; ++i) {
      const bool high = o.smlad && i % 2 != 0;
      sum += bytes[first + i] * (high ? high_of_smlad(panel[i - 1], panel[i]) : low_of_smlad(panel[i]));
    }
  }
  return sum;
}

RNNPACK_NOINLINE void ref_gemm_bytes(const GemmArgs *args, const Order &o) {
  const size_t row = size_t{args->w.gates} * o.nr, padded_k = align_up(args->w.k, o.kr);
  int8_t *bytes = static_cast<int8_t *>(args->scratch);
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float *a = ref_row(args->a, m, args->a_row_bytes);
    const float step = ref_quantise_row(*args, a, bytes);
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const uint8_t *panel = static_cast<const uint8_t *>(args->w.panels) + tile * padded_k * row;
      for (size_t n = 0; n < row && ref_is_written(*args, tile * row + n); ++n) {
        const size_t before = o.apart ? n / o.nr * o.nr * padded_k + n % o.nr * o.kr : n * o.kr;
        const int32_t sum = ref_product(o, bytes, panel + before, (o.apart ? o.nr : row) * o.kr, args->w.k);
        const size_t column = tile * row + n, unit = tile * o.nr + n % o.nr;
        float value = static_cast<float>(sum) * (args->w.scales[column] * step) + ref_start(*args, m, tile, n, row);
        if (args->w.diagonal != nullptr && unit < args->w.k) value += a[unit] * args->w.diagonal[column];
        *ref_out(*args, m, tile, n, row) = value;
      }
    }
  }
}

template <KernelFamily kFamily, uint32_t kNr>
void ref_gemm_i8(const GemmArgs *args) {
  constexpr bool kSmlad = kFamily == KernelFamily::kGemmSmlad, kApart = kFamily != KernelFamily::kGemm;
  ref_gemm_bytes(args, {kNr, kSmlad ? 8u : kApart ? 16u : 4u, kApart, kSmlad});
}

}  // namespace

#define RNNPACK_IN_gemm_i8_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_gemm_i8<KernelFamily::family, nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
