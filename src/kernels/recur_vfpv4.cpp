// recur_vfpv4.cpp -- the recurrent rows for the Arm scalar FPU: panel_vfpv4.h and vec_vfpv4.h put under recur_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_VFPV4
#define RNNPACK_SET vfpv4
#include "kernels/kernel_rows.h"
#include "kernels/panel_vfpv4.h"
#include "kernels/vec_vfpv4.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/recur_small_body.h"
// And these before the cells that have code of their own.
#include "kernels/cells_vfpv4.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::vfpv4 {
namespace {

template <KernelFamily kFamily, int kNr>
constexpr RecurFn vfpv4_function() {
  if constexpr (kFamily == KernelFamily::kLstm) return recur_rows<LstmRow, kNr>;
  if constexpr (kFamily == KernelFamily::kGruLinear) return recur_rows<GruLinearRow, kNr>;
  return recur_run<CellOf<kFamily>, kNr>;
}

}  // namespace
}  // namespace rnnp::vfpv4

namespace rnnp {

#define RNNPACK_IN_recur_vfpv4 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) vfpv4::vfpv4_function<KernelFamily::family, nr>()
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_VFPV4
