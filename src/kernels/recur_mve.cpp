// recur_mve.cpp -- the recurrent rows for Helium (MVE): panel_mve.h and vec_mve.h put under recur_small_body.h, and
// recur_mve_body.h. Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no
// dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#define RNNPACK_SET mve
#include "kernels/kernel_rows.h"
#include "kernels/panel_mve.h"
#include "kernels/vec_mve.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/recur_mve_body.h"
#include "kernels/recur_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::mve {
namespace {

template <KernelFamily kFamily, int kNr>
constexpr RecurFn mve_function() {
  if constexpr (kFamily == KernelFamily::kRnnTanh)
    return recur_mve<TanhMve>;
  else if constexpr (kFamily == KernelFamily::kLstm)
    return recur_mve<LstmMve>;
  else if constexpr (kFamily == KernelFamily::kGruLinear)
    return recur_mve<GruLinearMve>;
  else
    return recur_run<CellOf<kFamily>, kNr>;
}

}  // namespace
}  // namespace rnnp::mve

namespace rnnp {

#define RNNPACK_IN_recur_mve , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) mve::mve_function<KernelFamily::family, nr>()
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_MVE
