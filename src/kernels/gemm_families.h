// gemm_families.h -- which gemm multiplies by panels of a format: the one place where formats meet kernel families. Constants only.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_FAMILIES_H_
#define RNNPACK_KERNELS_GEMM_FAMILIES_H_

#include "kernels/kernels.h"
#include "pack/panel_format.h"

namespace rnnp {

// Of panels of a format with so many gates; dense f32 has a family for each number of gates.
constexpr KernelFamily gemm_family(const PanelFormat &f, uint32_t gates = 1) {
  if (is_sparse(f)) return is_ell(f) ? KernelFamily::kGemmEll : KernelFamily::kGemmBsr;
  if (f.factor == DType::kBf16) return KernelFamily::kGemmDot;
  if (f.weight == DType::kI8 && f.scales == Scales::kPerGroup) return KernelFamily::kGemmQ8;
  if (f.scales == Scales::kIntegerOnly) return KernelFamily::kGemmQ15;
  if (f.scales == Scales::kSmlad) return KernelFamily::kGemmSmlad;
  if (f.scales == Scales::kKMajor16) return KernelFamily::kGemmKMajor16;
  return f.weight == DType::kF32 ? gemm_family(gates) : KernelFamily::kGemm;
}

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_FAMILIES_H_
