// checked.h -- sums and products of sizes that notice overflow. Every size that comes from a blob or a caller goes through these.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_CHECKED_H_
#define RNNPACK_BASE_CHECKED_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {

constexpr size_t kSizeOverflow = SIZE_MAX;

// On CPUs of 32 bits a call takes less room than a product of twice the width and its test.
#if defined(__OPTIMIZE_SIZE__) && UINTPTR_MAX == UINT32_MAX
#define RNNPACK_SMALL_BY_CALL __attribute__((noinline))
#else
#define RNNPACK_SMALL_BY_CALL
#endif

// a*b and a+b, saturating at kSizeOverflow, which stays there through further sums and products.
RNNPACK_SMALL_BY_CALL inline size_t mul_sat(size_t a, size_t b) {
  size_t r;
  return __builtin_mul_overflow(a, b, &r) ? kSizeOverflow : r;
}
inline size_t add_sat(size_t a, size_t b) {
  size_t r;
  return __builtin_add_overflow(a, b, &r) ? kSizeOverflow : r;
}

// True when [offset, offset + bytes) lies inside [0, limit), of any unsigned types: nothing is added, so nothing wraps.
template <class Offset, class Bytes, class Limit>
bool range_fits(Offset offset, Bytes bytes, Limit limit) {
  static_assert(Offset(-1) > 0 && Bytes(-1) > 0 && Limit(-1) > 0, "unsigned only");
  return offset <= limit && bytes <= limit - offset;
}

constexpr size_t align_up(size_t n, size_t align) {
  return n > SIZE_MAX - (align - 1) ? kSizeOverflow : (n + align - 1) & ~(align - 1);
}

inline bool is_aligned(const void *p, size_t align) {
  return (reinterpret_cast<uintptr_t>(p) & (align - 1)) == 0;
}

}  // namespace rnnp
#endif  // RNNPACK_BASE_CHECKED_H_
