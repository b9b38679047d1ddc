// isa.h -- RNNPACK_HAVE_<ISA>: whether the kernels of an instruction set are part of this build. A build that gives these files
// flags of their own says so itself (cmake/isa_flags.cmake); where every file is compiled alike it follows from the compiler's
// target. RNNPACK_REFERENCE_KERNELS: none is. Everything works then, several times slower. Macros, because whole files depend on
// them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ISA_H_
#define RNNPACK_KERNELS_ISA_H_

#ifndef RNNPACK_REFERENCE_KERNELS
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && !defined(RNNPACK_HAVE_AVX2)
#define RNNPACK_HAVE_AVX2 1
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && !defined(RNNPACK_HAVE_AVX512)
#define RNNPACK_HAVE_AVX512 1
#endif
#if defined(__AVX512VNNI__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    !defined(RNNPACK_HAVE_AVX512VNNI)
#define RNNPACK_HAVE_AVX512VNNI 1
#endif
#if defined(__AVXVNNI__) && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && !defined(RNNPACK_HAVE_AVXVNNI)
#define RNNPACK_HAVE_AVXVNNI 1
#endif
#if (defined(__aarch64__) || (defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA))) && !defined(RNNPACK_HAVE_NEON)
#define RNNPACK_HAVE_NEON 1
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && !defined(RNNPACK_HAVE_NEONDOT)
#define RNNPACK_HAVE_NEONDOT 1
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_MATMUL_INT8) && !defined(RNNPACK_HAVE_I8MM)
#define RNNPACK_HAVE_I8MM 1
#endif
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && !defined(RNNPACK_HAVE_MVE)
#define RNNPACK_HAVE_MVE 1
#endif
#if defined(__ARM_FEATURE_DSP) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4) && \
    !defined(RNNPACK_HAVE_MVE) && !defined(RNNPACK_HAVE_DSP)
#define RNNPACK_HAVE_DSP 1
#endif
#if defined(__arm__) && defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4) && !defined(RNNPACK_HAVE_VFPV4)
#define RNNPACK_HAVE_VFPV4 1
#endif
// Vectors are spelt in clang's extensions: GCC 12 has no vectors for RISC-V.
#if defined(__riscv_v) && __riscv_v >= 1000000 && defined(__clang__) && __clang_major__ >= 18 && !defined(RNNPACK_HAVE_RVV)
#define RNNPACK_HAVE_RVV 1
#endif
#if defined(__riscv_flen) && !defined(RNNPACK_HAVE_RVF)
#define RNNPACK_HAVE_RVF 1
#endif
#if defined(__wasm_simd128__) && !defined(RNNPACK_HAVE_SIMD128)
#define RNNPACK_HAVE_SIMD128 1
#endif
#if (defined(__x86_64__) || defined(__i386__)) && !defined(RNNPACK_HAVE_AVX2)
#error "Compile with -mavx2 -mfma -mf16c or -march=native, or with CMake, or define RNNPACK_REFERENCE_KERNELS to do without vectors"
#endif
#endif

#endif  // RNNPACK_KERNELS_ISA_H_
