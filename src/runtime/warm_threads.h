// warm_threads.h -- a session's threads use tiles once while it is made. A thread's first instruction on tiles traps, and the
// operating system finds room for what they hold: tens of microseconds that no step should take. Touches nothing of the session.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_WARM_THREADS_H_
#define RNNPACK_RUNTIME_WARM_THREADS_H_

#include "runtime/session.h"

namespace rnnp {

#if defined(__x86_64__)
// A product of no rows.
inline void warm_thread(void *gemm, uint32_t) {
  const GemmArgs none = {};
  (*static_cast<const GemmFn *>(gemm))(&none);
}

// A kernel that uses tiles; nullptr: none does.
inline const Kernel *kernel_of_tiles(const SessionConfig &c) {
  constexpr uint32_t kTiles = RNNP_ISA_AMX_INT8 | RNNP_ISA_AMX_BF16;
  if ((c.isa & kTiles) == 0) return nullptr;
  const Kernel *bytes = find_kernel(c.kernels, KernelFamily::kGemm, DType::kI8, 16, c.isa);
  if (bytes != nullptr && (bytes->isa & kTiles) != 0) return bytes;
  const Kernel *halves = find_kernel(c.kernels, KernelFamily::kGemmDot, DType::kBf16, 16, c.isa);
  return halves != nullptr && (halves->isa & kTiles) != 0 ? halves : nullptr;
}

inline void warm_threads(const SessionConfig &c, const Session &s) {
  const Kernel *tiles = kernel_of_tiles(c);
  if (tiles == nullptr) return;
  GemmFn gemm = tiles->gemm;
  if (kManyThreads && s.region_threads > 1) return c.executor.parallel(c.executor.ctx, warm_thread, &gemm);
  warm_thread(&gemm, 0);
}
#else
inline void warm_threads(const SessionConfig &, const Session &) {}
#endif

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_WARM_THREADS_H_
