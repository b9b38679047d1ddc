// fpenv.h -- flush denormals to zero around a run, and put the caller's floating-point environment back.
// Room: base; touches only this thread's MXCSR or FPCR. Inline and call-free so that bare-metal builds carry it too.
// Why: a decaying state ends in denormals, and one denormal operand can cost a hundred cycles: a step would lose its bound.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_FPENV_H_
#define RNNPACK_BASE_FPENV_H_

#include <stdint.h>

namespace rnnp {

#if defined(__SSE2__) || defined(__x86_64__)

// MXCSR: FTZ (bit 15), DAZ (bit 6), rounding to nearest (bits 13-14 clear), all exceptions masked (bits 7-12).
using FpEnv = uint32_t;

static inline FpEnv fpenv_get() {
  return __builtin_ia32_stmxcsr();
}
static inline void fpenv_set(FpEnv env) {
  __builtin_ia32_ldmxcsr(env);
}
static inline FpEnv fpenv_flushing(FpEnv env) {
  return (env & ~0x6000u) | 0x9fc0u;
}

#elif defined(__aarch64__)

// FPCR: FZ (bit 24), rounding to nearest (bits 22-23 clear), no traps (bits 8-12 and 15 clear).
using FpEnv = uint64_t;

static inline FpEnv fpenv_get() {
  FpEnv env;
  __asm__ volatile("mrs %0, fpcr" : "=r"(env));
  return env;
}
static inline void fpenv_set(FpEnv env) {
  __asm__ volatile("msr fpcr, %0" : : "r"(env));
}
static inline FpEnv fpenv_flushing(FpEnv env) {
  return (env & ~FpEnv{0xc09f00}) | (FpEnv{1} << 24);
}

#elif defined(__arm__) && defined(__ARM_FP)

// FPSCR, bits as on AArch64.
using FpEnv = uint32_t;

static inline FpEnv fpenv_get() {
  FpEnv env;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(env));
  return env;
}
static inline void fpenv_set(FpEnv env) {
  __asm__ volatile("vmsr fpscr, %0" : : "r"(env));
}
static inline FpEnv fpenv_flushing(FpEnv env) {
  return (env & ~FpEnv{0xc09f00}) | (FpEnv{1} << 24);
}

#else

// No control over denormals (RISC-V, WebAssembly, soft float): they are computed with.
using FpEnv = uint32_t;

static inline FpEnv fpenv_get() {
  return 0;
}
static inline void fpenv_set(FpEnv) {}
static inline FpEnv fpenv_flushing(FpEnv env) {
  return env;
}

#endif

// Saves the environment, flushes denormals until the end of the scope, then restores what was there.
// The register is written only when it differs: the write is slow, and a real-time caller usually flushes already.
class FlushDenormals {
 public:
  [[gnu::always_inline]] FlushDenormals() : saved_(fpenv_get()) {
    if (fpenv_flushing(saved_) != saved_) fpenv_set(fpenv_flushing(saved_));
  }
  [[gnu::always_inline]] ~FlushDenormals() {
    if (fpenv_flushing(saved_) != saved_) fpenv_set(saved_);
  }
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;

 private:
  FpEnv saved_;
};

}  // namespace rnnp
#endif  // RNNPACK_BASE_FPENV_H_
