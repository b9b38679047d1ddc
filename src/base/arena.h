// arena.h -- hands out pieces of the caller's memory, front to back.
// The same building code runs twice: measuring (base null, pointers come back null, nothing may be written) and placing.
// So the size that rnnp_session_memory tells and the size rnnp_session_init uses cannot differ.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_ARENA_H_
#define RNNPACK_BASE_ARENA_H_

#include "base/checked.h"
#include "base/many_threads.h"

namespace rnnp {

// A cache line, so that what threads own never shares one; for one core what the widest member of a structure wants.
constexpr size_t kArenaAlign = kManyThreads ? 64 : 8;

class Arena {
 public:
  Arena(void *base, size_t capacity) : base_(static_cast<uint8_t *>(base)), capacity_(base ? capacity : SIZE_MAX - kArenaAlign) {}

  bool measuring() const { return base_ == nullptr; }
  size_t used() const { return used_; }
  bool overflowed() const { return used_ == kSizeOverflow || used_ > capacity_; }

  // `bytes` aligned to kArenaAlign; null while measuring or when there is not enough.
  void *take_bytes(size_t bytes) {
    const size_t at = align_up(used_, kArenaAlign);
    used_ = add_sat(at, bytes);
    return measuring() || overflowed() ? nullptr : base_ + at;
  }

  void *take_elems(size_t count, size_t elem_bytes) { return take_bytes(mul_sat(count, elem_bytes)); }

  template <class T>
  T *take(size_t count) {
    return static_cast<T *>(take_elems(count, sizeof(T)));
  }

 private:
  uint8_t *base_;
  size_t capacity_;
  size_t used_ = 0;
};

}  // namespace rnnp
#endif  // RNNPACK_BASE_ARENA_H_
