// gemm_bsr_ref.cpp -- the gemm rows of sparse panels in plain loops: every CPU runs them, every other row is tested against
// them. Room: kernels. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Sparse"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_rows_ref.h"
#include "kernels/gemm_ref.h"
#include "kernels/kernel_rows.h"
#include "pack/panel_format.h"

namespace rnnp {
namespace {

constexpr size_t kUnits = 16;

// The entries of one gate of one panel, and of each the block that a unit is in.
struct Column {
  size_t begin, end, strips, strip;
  const uint16_t *quads;
  size_t at(size_t entry) const { return quads[entry * strips + strip]; }
};

template <DType kWeight>
struct StoredFloat {
  using Type = float;
};
template <>
struct StoredFloat<DType::kBf16> {
  using Type = uint16_t;
};

float weight_at(const float *panels, size_t entry, size_t lane, size_t j) {
  return panels[(entry * kBlockK + j) * kUnits + lane];
}
// Of bf16: pairs of k lie together.
float weight_at(const uint16_t *panels, size_t entry, size_t lane, size_t j) {
  return ref_from_bf16(panels[((entry * kBlockK / 2 + j / 2) * kUnits + lane) * 2 + j % 2]);
}

// Four sums, one for each k of a block.
template <class Weight>
float product_of_floats(const GemmArgs &g, const Column &c, const float *a, size_t lane) {
  const Weight *panels = static_cast<const Weight *>(g.w.panels);
  float sum[kBlockK] = {};
  for (size_t e = c.begin; e < c.end; ++e) {
    for (size_t j = 0; j < kBlockK; ++j)
      sum[j] += (c.at(e) * kBlockK + j < g.w.k ? a[c.at(e) * kBlockK + j] : 0.0f) * weight_at(panels, e, lane, j);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Of single weights: one sum.
float product_of_pairs(const GemmArgs &g, const Column &c, const float *a, size_t lane) {
  const float *weights = static_cast<const float *>(g.w.panels);
  float sum = 0.0f;
  for (size_t e = c.begin; e < c.end; ++e) sum += (c.at(e) < g.w.k ? a[c.at(e)] : 0.0f) * weights[e * kUnits + lane];
  return sum;
}

// kK: of an index.
template <size_t kK>
int32_t product_of_bytes(const GemmArgs &g, const Column &c, const int8_t *bytes, size_t lane) {
  int32_t sum = 0;
  for (size_t e = c.begin; e < c.end; ++e) {
    const int8_t *w = static_cast<const int8_t *>(g.w.panels) + (e * kUnits + lane) * kK;
    for (size_t j = 0; j < kK && c.at(e) * kK + j < g.w.k; ++j) sum += bytes[c.at(e) * kK + j] * w[j];
  }
  return sum;
}

template <DType kWeight, size_t kK>
void ref_gemm_sparse(const GemmArgs *args) {
  using Weight = typename StoredFloat<kWeight>::Type;
  constexpr bool kBytes = kWeight == DType::kI8;
  const GemmArgs &g = *args;
  const size_t width = g.w.gates * kUnits;
  int8_t *bytes = static_cast<int8_t *>(g.scratch);
  for (uint32_t m = 0; m < g.rows; ++m) {
    const float *a = ref_row(g.a, m, g.a_row_bytes);
    const float step = kBytes ? ref_quantise_row(g, a, bytes) : 1.0f;
    for (uint32_t tile = g.tile_begin; tile < g.tile_end; ++tile) {
      for (size_t n = 0; n < width && ref_is_written(g, tile * width + n); ++n) {
        const size_t lane = n % kUnits, column = tile * width + n, unit = tile * kUnits + lane;
        const uint32_t *first = g.w.first + tile * g.w.gates + n / kUnits;
        const uint32_t strips = g.w.index_bytes / 2u;
        const Column c = {first[0], first[1], strips, lane / (kUnits / strips), g.w.quads};
        float value = ref_start(g, m, tile, n, width);
        if (kBytes) {
          value += static_cast<float>(product_of_bytes<kK>(g, c, bytes, lane)) * (g.w.scales[column] * step);
        } else if (kK == 1) {
          value += product_of_pairs(g, c, a, lane);
        } else {
          value += product_of_floats<Weight>(g, c, a, lane);
        }
        if (g.w.diagonal != nullptr && unit < g.w.k) value += a[unit] * g.w.diagonal[column];
        *ref_out(g, m, tile, n, width) = value;
      }
    }
  }
}

}  // namespace

#define RNNPACK_IN_gemm_bsr_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_gemm_sparse<DType::dtype, KernelFamily::family == KernelFamily::kGemmEll ? 1 : kBlockK>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
