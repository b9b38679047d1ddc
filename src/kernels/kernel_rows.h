// kernel_rows.h -- declares kKernel_<name> for every row of kernels.inc.
// Room: kernels; included by the files that define rows and by whoever names single rows (a firmware's own KernelList).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_KERNEL_ROWS_H_
#define RNNPACK_KERNELS_KERNEL_ROWS_H_

#include "kernels/isa.h"
#include "kernels/kernels.h"

namespace rnnp {

#define RNNPACK_KERNEL(name, family, dtype, nr, isa, file) extern const Kernel kKernel_##name;
#include "kernels/kernels.inc"
#undef RNNPACK_KERNEL

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_KERNEL_ROWS_H_
