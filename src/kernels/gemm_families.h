// gemm_families.h -- which gemm multiplies by panels of a format, as its row of panel_formats.inc says. Constants only.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_FAMILIES_H_
#define RNNPACK_KERNELS_GEMM_FAMILIES_H_

#include "kernels/kernels.h"
#include "pack/panel_format.h"

namespace rnnp {

struct GemmFamilies {
  uint8_t of[kMostFormatId + 1];
};
constexpr GemmFamilies list_gemm_families() {
  GemmFamilies families = {};
#define RNNPACK_PANEL_FORMAT(name, id, weight, factor, nr, kr, scales, index_bytes, pack, gemm) \
  families.of[id] = static_cast<uint8_t>(KernelFamily::gemm);
#include "pack/panel_formats.inc"
#undef RNNPACK_PANEL_FORMAT
  return families;
}
inline constexpr GemmFamilies kGemmFamilies = list_gemm_families();

// Of panels of a format with so many gates; dense f32 has a family for each number of gates.
constexpr KernelFamily gemm_family(const PanelFormat &f, uint32_t gates = 1) {
  const auto family = static_cast<KernelFamily>(kGemmFamilies.of[f.id]);
  return family == KernelFamily::kGemm && f.weight == DType::kF32 ? gemm_family(gates) : family;
}

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_FAMILIES_H_
