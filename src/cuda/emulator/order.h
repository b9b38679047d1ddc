// order.h -- what the emulator tells ThreadSanitizer, so that it sees the order that a GPU gives and no other: every CUDA thread is
// a thread of its own, barriers and fences order, switches between fibers do not. Nothing where that sanitizer is not.
// The emulator's own files are not instrumented (RNNPACK_CUDA_ORDER says that the rest is). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_EMULATOR_ORDER_H_
#define RNNPACK_CUDA_EMULATOR_ORDER_H_

#ifdef RNNPACK_CUDA_ORDER
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}
#endif

namespace simt {

#ifdef RNNPACK_CUDA_ORDER
constexpr bool kOrderIsWatched = true;
inline void order_release(void *at) {
  __tsan_release(at);
}
inline void order_acquire(void *at) {
  __tsan_acquire(at);
}
inline void *order_new_thread() {
  return __tsan_create_fiber(0);
}
inline void *order_this_thread() {
  return __tsan_get_current_fiber();
}
inline void order_become(void *thread) {
  __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
}
// While there is one, what this thread does is the emulator's own affair: memory that it takes, copies, gives back.
class Unseen {
 public:
  Unseen() { AnnotateIgnoreReadsBegin("", 0), AnnotateIgnoreWritesBegin("", 0); }
  ~Unseen() { AnnotateIgnoreWritesEnd("", 0), AnnotateIgnoreReadsEnd("", 0); }
  Unseen(const Unseen &) = delete;
  Unseen &operator=(const Unseen &) = delete;
};
#else
class Unseen {
 public:
  Unseen() {}
};
constexpr bool kOrderIsWatched = false;
inline void order_release(void *) {}
inline void order_acquire(void *) {}
inline void *order_new_thread() {
  return nullptr;
}
inline void *order_this_thread() {
  return nullptr;
}
inline void order_become(void *) {}
#endif

}  // namespace simt
#endif  // RNNPACK_CUDA_EMULATOR_ORDER_H_
