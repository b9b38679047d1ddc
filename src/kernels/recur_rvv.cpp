// recur_rvv.cpp -- the recurrent rows for RISC-V vectors: vec_rvv.h put under recur_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVV
#define RNNPACK_SET rvv
#include "kernels/kernel_rows.h"
#include "kernels/vec_rvv.h"
// The vector words come before the body that uses them.
#include "kernels/recur_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_recur_rvv , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) \
  rvv::recur_run<rvv::CellOf<KernelFamily::family>, nr, Blocks_nr##nr##_rvv>, KernelFamily::family < KernelFamily::kGruGates
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_RVV
