// arena.h -- hands out pieces of the caller's memory, front to back.
// The same building code runs twice: measuring (base null, pointers come back null, nothing may be written) and placing.
// So the size that rnnp_session_memory tells and the size rnnp_session_init uses cannot differ. On the building machine the same
// code measures for smaller ones, whose sessions are laid out at compile time.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_ARENA_H_
#define RNNPACK_BASE_ARENA_H_

#include "base/checked.h"
#include "base/many_threads.h"

namespace rnnp {

// A cache line, so that what threads own never shares one; for one core what the widest member of a structure wants.
constexpr size_t kArenaAlign = kManyThreads ? 64 : 8;

// The machine a session is measured for: zeros mean this one.
struct OtherMachine {
  bool narrow;      // pointers have 4 bytes
  bool one_thread;  // its library is built for one thread (base/many_threads.h); narrow is set, too
};
constexpr bool kMeasuresOthers = kManyThreads && sizeof(void *) == 8;

constexpr bool has_many_threads(const OtherMachine &m) {
  return kManyThreads && !(kMeasuresOthers && m.one_thread);
}
constexpr size_t pointer_bytes(const OtherMachine &m) {
  return kMeasuresOthers && m.narrow ? 4 : sizeof(void *);
}
// n, aligned as that machine's arenas are; kSizeOverflow stays (format/arena.cpp).
size_t arena_align_up(size_t n, OtherMachine machine);

// sizeof(T); where others are measured also, from bit 12 on, that of 32-bit builds with threads, and from bit 24 on what those
// without have less. Structures that hold pointers, or sizes, say it (RNNPACK_BYTES_32); others are of one size everywhere.
constexpr uint32_t pack_elem_bytes(uint32_t here, uint32_t narrow, uint32_t narrow_one_thread) {
  return kMeasuresOthers ? here | narrow << 12 | (narrow - narrow_one_thread) << 24 : here;
}
template <class T>
constexpr uint32_t elem_bytes(decltype(T::kNarrowBytes) *) {
  static_assert(sizeof(T) < 4096 && T::kNarrowBytes - T::kNarrowOneThreadBytes < 256, "pack_elem_bytes has no room for it");
  static_assert(sizeof(void *) != 4 || sizeof(T) == (kManyThreads ? T::kNarrowBytes : T::kNarrowOneThreadBytes),
                "the structure has another size on 32-bit CPUs than its RNNPACK_BYTES_32 says");
  return pack_elem_bytes(sizeof(T), T::kNarrowBytes, T::kNarrowOneThreadBytes);
}
template <class T>
constexpr uint32_t elem_bytes(...) {
  static_assert(sizeof(T) < 4096, "pack_elem_bytes has no room for it");
  static_assert(sizeof(void *) != 4 || !__is_class(T), "a structure in a session needs RNNPACK_BYTES_32");
  constexpr uint32_t narrow = __is_class(T) || sizeof(T) < 4 ? sizeof(T) : 4;
  return pack_elem_bytes(sizeof(T), narrow, narrow);
}
#define RNNPACK_BYTES_32_BY_THREADS(many, one) static constexpr uint16_t kNarrowBytes = many, kNarrowOneThreadBytes = one
#define RNNPACK_BYTES_32(bytes) RNNPACK_BYTES_32_BY_THREADS(bytes, bytes)

class Arena {
 public:
  Arena(void *base, size_t capacity, const OtherMachine &other = {})
      : base_(static_cast<uint8_t *>(base)), capacity_(base ? capacity : SIZE_MAX - kArenaAlign), other_(other) {}

  bool measuring() const { return base_ == nullptr; }
  size_t used() const { return used_; }
  bool overflowed() const { return used_ == kSizeOverflow || used_ > capacity_; }

  // `bytes` aligned to kArenaAlign; null while measuring or when there is not enough. Both in format/arena.cpp.
  void *take_bytes(size_t bytes);

  template <class T>
  T *take(size_t count) {
    constexpr uint32_t bytes = elem_bytes<T>(nullptr);
    return static_cast<T *>(take_elems(count, bytes));
  }

 private:
  void *take_elems(size_t count, uint32_t packed_bytes);

  uint8_t *base_;
  size_t capacity_;
  size_t used_ = 0;
  OtherMachine other_;
};

}  // namespace rnnp
#endif  // RNNPACK_BASE_ARENA_H_
