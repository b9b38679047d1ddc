// isa_check.h -- the compiler's target against the kernels of this build: where it has instructions that only kernels of their own
// use, leaving those out must be meant. Everything would work, on reference kernels, several times slower.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ISA_CHECK_H_
#define RNNPACK_KERNELS_ISA_CHECK_H_

#ifndef RNNPACK_REFERENCE_KERNELS
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && !defined(RNNPACK_HAVE_MVE)
#error \
    "This target has Helium: compile src/kernels/*_mve.cpp and define RNNPACK_HAVE_MVE=1, or RNNPACK_REFERENCE_KERNELS to do without"
#endif
#if defined(__arm__) && defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4) && __ARM_ARCH_PROFILE == 'M' && !defined(RNNPACK_HAVE_VFPV4)
#error \
    "This target's FPU has fused multiply-add: compile src/kernels/*_vfpv4.cpp and define RNNPACK_HAVE_VFPV4=1 (six times faster), or RNNPACK_REFERENCE_KERNELS to do without"
#endif
#if defined(__aarch64__) && !defined(RNNPACK_HAVE_NEON)
#error \
    "This target has NEON: compile src/kernels/*_neon.cpp and define RNNPACK_HAVE_NEON=1, or RNNPACK_REFERENCE_KERNELS to do without"
#endif
#if defined(__riscv_flen) && !defined(RNNPACK_HAVE_RVF)
#error \
    "This target has an FPU: compile src/kernels/*_rvf.cpp and define RNNPACK_HAVE_RVF=1, or RNNPACK_REFERENCE_KERNELS to do without"
#endif
#if defined(__wasm_simd128__) && !defined(RNNPACK_HAVE_SIMD128)
#error \
    "This target has simd128: compile src/kernels/*_simd128.cpp and define RNNPACK_HAVE_SIMD128=1, or RNNPACK_REFERENCE_KERNELS to do without"
#endif
#if (defined(__x86_64__) || defined(__i386__)) && !(defined(RNNPACK_HAVE_AVX2) && defined(RNNPACK_HAVE_AVX512))
#error \
    "Compile src/kernels/*_avx2.cpp and *_avx512.cpp with the flags of cmake/isa_flags.cmake and define RNNPACK_HAVE_AVX2=1 and RNNPACK_HAVE_AVX512=1, or RNNPACK_REFERENCE_KERNELS to do without"
#endif
#endif

#endif  // RNNPACK_KERNELS_ISA_CHECK_H_
