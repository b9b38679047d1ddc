// recur_rvf.cpp -- the recurrent rows for RISC-V's scalar FPU: panel_rvf.h and vec_rvf.h put under recur_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVF
#define RNNPACK_SET rvf
#include "kernels/kernel_rows.h"
#include "kernels/panel_rvf.h"
#include "kernels/vec_rvf.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/recur_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_recur_rvf , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) rvf::recur_run<rvf::CellOf<KernelFamily::family>, nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_RVF
