// gemm_bsr_neondot.cpp -- the gemm rows of sparse panels of int8 for NEON with dot products.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEONDOT
#define RNNPACK_SET neondot
#include "kernels/byte_dot_neondot.h"
#include "kernels/kernel_rows.h"
// The products come before the words that use them.
#include "kernels/block_words_neon.h"
#include "kernels/byte_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_bsr_neondot , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neondot::gemm_bsr_run<neondot::ByteEntries>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEONDOT
