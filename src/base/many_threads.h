// many_threads.h -- whether the library is built for more than one thread. Firmware for one core leaves teams, barriers and the
// choice of threads out of its flash (CMake: RNNPACK_THREADS=OFF); executors given to it are not used and everything runs on the
// caller's thread. Said by RNNPACK_ONE_THREAD or RNNPACK_MANY_THREADS; a Cortex-M is one core unless told otherwise.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_MANY_THREADS_H_
#define RNNPACK_BASE_MANY_THREADS_H_

namespace rnnp {

#if defined(RNNPACK_ONE_THREAD) || (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(RNNPACK_MANY_THREADS))
constexpr bool kManyThreads = false;
#else
constexpr bool kManyThreads = true;
#endif

}  // namespace rnnp
#endif  // RNNPACK_BASE_MANY_THREADS_H_
