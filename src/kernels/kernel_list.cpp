// kernel_list.cpp -- the list of all rows of kernels.inc, and the search in a list.
// Room: kernels. Constants only; the CPU's bits come in as an argument, never from the CPU.
// Contract: kernels.h.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

const Kernel *const kRows[] = {
#define RNNPACK_KERNEL(name, family, dtype, nr, isa, file) &kKernel_##name,
#include "kernels/kernels.inc"
#undef RNNPACK_KERNEL
};

}  // namespace

extern const KernelList kAllKernels;
const KernelList kAllKernels = {kRows, sizeof(kRows) / sizeof(kRows[0])};

const Kernel *find_kernel(const KernelList &list, KernelFamily family, DType dtype, uint32_t nr, uint32_t isa) {
  for (uint32_t i = 0; i < list.count; ++i) {
    const Kernel *row = list.rows[i];
    if (row->family == family && row->dtype == dtype && row->nr == nr && (row->isa & ~isa) == 0) return row;
  }
  return nullptr;
}

const Kernel *find_kernel(const KernelGroups &groups, KernelFamily family, DType dtype, uint32_t nr, uint32_t isa) {
  for (uint32_t i = 0; i < groups.count; ++i) {
    const Kernel *row = find_kernel(*groups.lists[i], family, dtype, nr, isa);
    if (row != nullptr) return row;
  }
  return nullptr;
}

}  // namespace rnnp
