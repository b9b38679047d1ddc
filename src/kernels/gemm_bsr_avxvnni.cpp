// gemm_bsr_avxvnni.cpp -- the gemm rows of sparse panels for AVX-VNNI.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVXVNNI
#define RNNPACK_SET avxvnni
#include "kernels/byte_dot_avxvnni.h"
// After the products.
#include "kernels/byte_factors_avx2.h"
#include "kernels/kernel_rows.h"
// The words come before the body that uses them.
#include "kernels/byte_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_bsr_avxvnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avxvnni::gemm_bsr_run<avxvnni::ByteEntries>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVXVNNI
