// compiler.h -- the few words about inlining and unrolling that kernel bodies need from the compiler.
// Room: kernels. Macros only because attributes and pragmas cannot be anything else.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_COMPILER_H_
#define RNNPACK_KERNELS_COMPILER_H_

#define RNNPACK_INLINE inline __attribute__((always_inline))
#define RNNPACK_NOINLINE __attribute__((noinline))

// Accumulators are arrays; they are registers only when every loop over them is unrolled completely.
#if defined(__clang__)
#define RNNPACK_UNROLL _Pragma("clang loop unroll(full)")
#define RNNPACK_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define RNNPACK_UNROLL _Pragma("GCC unroll 64")
#define RNNPACK_NO_UNROLL _Pragma("GCC unroll 1")
#endif

#endif  // RNNPACK_KERNELS_COMPILER_H_
