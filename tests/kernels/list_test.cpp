// list_test.cpp -- the table itself: best first, complete, and found as promised.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <set>

#include "base/isa_closure.h"
#include "kernel_support.h"
#include "kernels/gemm_families.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

// The reference is last, and no set comes before one that builds on it.
TEST(KernelList, IsOrderedBestFirst) {
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel &better = *kAllKernels.rows[i];
    for (uint32_t j = i + 1; j < kAllKernels.count; ++j) {
      const uint32_t other = kAllKernels.rows[j]->isa;
      const bool builds_on = other != better.isa && (better.isa & ~isa_closure(other)) == 0;
      const bool is_narrower = (better.isa & RNNP_ISA_AVX_VNNI) != 0 && (other & RNNP_ISA_AVX512) != 0;
      EXPECT_FALSE(builds_on || is_narrower) << better.name << " before " << kAllKernels.rows[j]->name;
    }
  }
}

TEST(KernelList, NamesAreUniqueAndSayFamilyLayoutAndIsa) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel &k = *kAllKernels.rows[i];
    EXPECT_TRUE(names.insert(k.name).second) << k.name;
    const std::map<DType, std::string> types = {
        {DType::kF32, "f32"}, {DType::kF16, "f16"}, {DType::kBf16, "bf16"}, {DType::kI8, "i8"}, {DType::kI4, "i4"}};
    const std::string type = "_" + types.at(k.dtype) + "_";
    const std::string layout = k.nr == 0 ? type : type + "nr" + std::to_string(k.nr) + "_";
    EXPECT_NE(std::strstr(k.name, layout.c_str()), nullptr) << k.name;
  }
}

TEST(KernelList, EveryRowHasAReference) {
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel *ref = reference_of(*kAllKernels.rows[i]);
    ASSERT_NE(ref, nullptr) << kAllKernels.rows[i]->name;
    EXPECT_EQ(ref->isa, 0u);
  }
}

TEST(KernelList, ReferencesCoverEveryFamilyAndTileWidth) {
  for (uint32_t family = uint32_t(KernelFamily::kGemm); family <= uint32_t(KernelFamily::kGruOutputGeneric); ++family)
    for (uint32_t nr : {4u, 8u, 16u})
      EXPECT_NE(find_kernel(kAllKernels, KernelFamily(family), DType::kF32, nr, 0), nullptr) << family << " nr " << nr;
  for (const PanelFormat &f : kPanelFormats) {
    if (f.nr == 0) continue;
    EXPECT_NE(find_kernel(kAllKernels, gemm_family(f), f.weight, f.nr, 0), nullptr) << "panel format " << f.id;
  }
  for (KernelFamily family :
       {KernelFamily::kAct, KernelFamily::kActPlain, KernelFamily::kBinary, KernelFamily::kSoftmax, KernelFamily::kDepthwise,
        KernelFamily::kMatMul, KernelFamily::kConvNchw, KernelFamily::kConvWinograd})
    EXPECT_NE(find_kernel(kAllKernels, family, DType::kF32, 0, 0), nullptr);
  for (KernelFamily family :
       {KernelFamily::kRnnTanh, KernelFamily::kLstm, KernelFamily::kGruLinear, KernelFamily::kGruGates, KernelFamily::kGruOutput})
    EXPECT_NE(find_kernel(kAllKernels, family, DType::kI8, 0, 0), nullptr);
}

TEST(KernelList, SearchGivesTheBestRowTheBitsAllow) {
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel &k = *kAllKernels.rows[i];
    EXPECT_EQ(find_kernel(kAllKernels, k.family, k.dtype, k.nr, k.isa), &k) << k.name;
  }
  EXPECT_EQ(find_kernel(kAllKernels, KernelFamily::kGemm, DType::kF32, 5, ~0u), nullptr);
  EXPECT_EQ(find_kernel(kAllKernels, KernelFamily::kGemm, DType::kI32, 16, ~0u), nullptr);
}

}  // namespace
}  // namespace rnnp
