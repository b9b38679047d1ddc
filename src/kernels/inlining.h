// inlining.h -- the few words about inlining and unrolling that kernel bodies need from the compiler.
// Room: kernels. Macros only because attributes and pragmas cannot be anything else.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_INLINING_H_
#define RNNPACK_KERNELS_INLINING_H_

#define RNNPACK_INLINE inline __attribute__((always_inline))
#define RNNPACK_NOINLINE __attribute__((noinline))

// Accumulators are arrays; they are registers only when every loop over them is unrolled completely.
// UNROLL_4 is for loops that -O2 turns into a few vectors and then keeps as a loop; Clang unrolls those by itself.
#if defined(__clang__)
#define RNNPACK_UNROLL _Pragma("clang loop unroll(full)")
#define RNNPACK_NO_UNROLL _Pragma("clang loop unroll(disable)")
#define RNNPACK_UNROLL_4
#else
#define RNNPACK_UNROLL _Pragma("GCC unroll 64")
#define RNNPACK_NO_UNROLL _Pragma("GCC unroll 1")
#define RNNPACK_UNROLL_4 _Pragma("GCC unroll 4")
#endif

#endif  // RNNPACK_KERNELS_INLINING_H_
