// isa.h -- RNNPACK_HAVE_<set>: whether the kernels of an instruction set are part of this build. A build that gives these files
// flags of their own says so itself (cmake/isa_flags.cmake); where every file is compiled alike it follows from the compiler's
// target (base/isa.inc). RNNPACK_REFERENCE_KERNELS: none is. Everything works then, several times slower. Macros, because whole
// files depend on them. RNNPACK_SET: the namespace of what a file of one set has for itself, unnamed ones in it; a body that
// several files include is another thing in each, and one file may hold several (compiler/emit/one_file.cpp).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ISA_H_
#define RNNPACK_KERNELS_ISA_H_

#include "base/compiled_isa.h"

#if (defined(__x86_64__) || defined(__i386__)) && !defined(RNNPACK_HAVE_AVX2) && !defined(RNNPACK_REFERENCE_KERNELS)
#error "Compile with -mavx2 -mfma -mf16c or -march=native, or with CMake, or define RNNPACK_REFERENCE_KERNELS to do without vectors"
#endif

#endif  // RNNPACK_KERNELS_ISA_H_
