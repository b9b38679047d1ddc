// compiled_isa.h -- the RNNP_ISA_* bits that this translation unit's compiler flags promise: a CPU without them could not run the
// program at all. The platform tells the rest at run time.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_COMPILED_ISA_H_
#define RNNPACK_BASE_COMPILED_ISA_H_

#include <stdint.h>

#include "rnnpack/rnnpack.h"

namespace rnnp {

#if defined(__aarch64__) || (defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA))
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_MATMUL_INT8)
constexpr uint32_t kCompiledIsa = RNNP_ISA_NEON | RNNP_ISA_NEON_DOTPROD | RNNP_ISA_NEON_I8MM;
#elif defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
constexpr uint32_t kCompiledIsa = RNNP_ISA_NEON | RNNP_ISA_NEON_DOTPROD;
#elif defined(__aarch64__)
constexpr uint32_t kCompiledIsa = RNNP_ISA_NEON;
#else
constexpr uint32_t kCompiledIsa = RNNP_ISA_NEON | RNNP_ISA_VFPV4;
#endif
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
constexpr uint32_t kCompiledIsa = RNNP_ISA_MVE | RNNP_ISA_VFPV4;
#elif defined(__arm__) && defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4)
constexpr uint32_t kCompiledIsa = RNNP_ISA_VFPV4;
#elif defined(__riscv_v) && __riscv_v >= 1000000
constexpr uint32_t kCompiledIsa = RNNP_ISA_RVV | RNNP_ISA_RVF;
#elif defined(__riscv_flen)
constexpr uint32_t kCompiledIsa = RNNP_ISA_RVF;
#elif defined(__wasm_simd128__)
constexpr uint32_t kCompiledIsa = RNNP_ISA_SIMD128;
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#ifdef __AVXVNNI__
constexpr uint32_t kCompiledAvx2 = RNNP_ISA_AVX2 | RNNP_ISA_AVX_VNNI;
#else
constexpr uint32_t kCompiledAvx2 = RNNP_ISA_AVX2;
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#ifdef __AVX512VNNI__
constexpr uint32_t kCompiledIsa = kCompiledAvx2 | RNNP_ISA_AVX512 | RNNP_ISA_AVX512_VNNI;
#else
constexpr uint32_t kCompiledIsa = kCompiledAvx2 | RNNP_ISA_AVX512;
#endif
#else
constexpr uint32_t kCompiledIsa = kCompiledAvx2;
#endif
#else
constexpr uint32_t kCompiledIsa = 0;
#endif

}  // namespace rnnp
#endif  // RNNPACK_BASE_COMPILED_ISA_H_
