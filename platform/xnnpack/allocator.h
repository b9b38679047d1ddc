// allocator.h -- XNNPACK's allocator hook, one per process, over the session memory of the thread that is creating an operator.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_XNNPACK_ALLOCATOR_H_
#define RNNPACK_PLATFORM_XNNPACK_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {

// While alive, XNNPACK's allocations on this thread come from [memory, memory + bytes) and are never given back.
class XnnMemoryScope {
 public:
  XnnMemoryScope(void *memory, size_t bytes);
  ~XnnMemoryScope();
  XnnMemoryScope(const XnnMemoryScope &) = delete;
  XnnMemoryScope &operator=(const XnnMemoryScope &) = delete;
  bool was_used() const;  // XNNPACK did ask this hook: it is the process's

 private:
  friend void *xnn_take(size_t bytes);
  uint8_t *next_;
  uint8_t *end_;
  bool used_ = false;
};

// xnn_initialize with this hook, once per process; false when XNNPACK does not run on this CPU.
bool xnn_ready();

}  // namespace rnnp
#endif  // RNNPACK_PLATFORM_XNNPACK_ALLOCATOR_H_
