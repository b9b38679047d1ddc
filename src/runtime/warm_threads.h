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

inline void warm_threads(const SessionConfig &c, const Session &s) {
  if ((c.isa & RNNP_ISA_AMX_INT8) == 0) return;
  const Kernel *tiles = find_kernel(c.kernels, KernelFamily::kGemm, DType::kI8, 16, c.isa);
  if (tiles == nullptr || (tiles->isa & RNNP_ISA_AMX_INT8) == 0) return;
  GemmFn gemm = tiles->gemm;
  if (kManyThreads && s.region_threads > 1) return c.executor.parallel(c.executor.ctx, warm_thread, &gemm);
  warm_thread(&gemm, 0);
}
#else
inline void warm_threads(const SessionConfig &, const Session &) {}
#endif

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_WARM_THREADS_H_
