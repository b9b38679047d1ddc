// bytes.h -- copy, fill and compare, through the compiler's builtins so that no libc header is needed.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_BYTES_H_
#define RNNPACK_BASE_BYTES_H_

#include <stddef.h>

namespace rnnp {

inline void copy_bytes(void *to, const void *from, size_t bytes) {
  __builtin_memcpy(to, from, bytes);
}
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
