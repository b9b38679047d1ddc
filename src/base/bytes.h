// bytes.h -- copy, fill and compare, through the compiler's builtins so that no libc header is needed.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_BYTES_H_
#define RNNPACK_BASE_BYTES_H_

#include <stddef.h>

namespace rnnp {

#if defined(__x86_64__)
// C libraries copy 4 KiB and more by rep movsb, which takes twenty times as long on Zen 3 where the two sides lie differently in
// their lines (glibc before 2.39): no piece is that long.
__attribute__((noinline)) inline void copy_pieces(void *to, const void *from, size_t bytes) {
  size_t piece = 2048;
  __asm__("" : "+r"(piece));  // a constant would become rep movsq
  for (; bytes > piece; bytes -= piece) {
    __builtin_memcpy(to, from, piece);
    to = static_cast<unsigned char *>(to) + piece;
    from = static_cast<const unsigned char *>(from) + piece;
  }
  __builtin_memcpy(to, from, bytes);
}

inline void copy_bytes(void *to, const void *from, size_t bytes) {
  __builtin_constant_p(bytes) ? static_cast<void>(__builtin_memcpy(to, from, bytes)) : copy_pieces(to, from, bytes);
}
#else
inline void copy_bytes(void *to, const void *from, size_t bytes) {
  __builtin_memcpy(to, from, bytes);
}
#endif
inline void zero_bytes(void *to, size_t bytes) {
  __builtin_memset(to, 0, bytes);
}

// Bytes seen as T. The caller knows that they are aligned; through void, because byte pointers promise no alignment (-Wcast-align).
template <class T>
T *view_as(void *bytes) {
  return static_cast<T *>(bytes);
}
template <class T>
const T *view_as(const void *bytes) {
  return static_cast<const T *>(bytes);
}

}  // namespace rnnp
#endif  // RNNPACK_BASE_BYTES_H_
