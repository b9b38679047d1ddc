// structs.h -- structs of the public API that may grow: each begins with its size in the caller's header, or comes in an array
// whose owner says that size. One rule for all.
//   from the caller  shorter: what is missing has its default; longer: what this library does not know must be zero
//   to the caller    shorter: what does not fit is left out; longer: what this library does not know is zero
// Room: runtime; touches the two structs and never a byte beyond the caller's. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_STRUCTS_H_
#define RNNPACK_RUNTIME_STRUCTS_H_

#include "base/bytes.h"

namespace rnnp {

constexpr uint32_t kMostStructBytes = 1024;  // no header's struct is as long: a size that was never set

// Of structs of `size` bytes here, which begin with their size.
inline bool take_struct_bytes(const void *given, size_t fewest, size_t align, void *out, uint32_t size) {
  if (given == nullptr) return false;
  const uint8_t *all = static_cast<const uint8_t *>(given);
  const uint32_t bytes = *view_as<uint32_t>(given);
  if (bytes < fewest || bytes > kMostStructBytes) return false;
  for (uint32_t i = size; i < bytes; ++i) {
    if (all[i] != 0) return false;
  }
  copy_bytes(out, given, bytes < size ? bytes & ~(align - 1) : size);
  *view_as<uint32_t>(out) = size;
  return true;
}

__attribute__((noinline)) inline bool give_struct_bytes(const void *facts, uint32_t size, void *out, size_t bytes) {
  if (out == nullptr || bytes < sizeof(uint32_t) || bytes > kMostStructBytes) return false;
  const size_t known = bytes < size ? bytes : size;
  copy_bytes(out, facts, known);
  zero_bytes(static_cast<uint8_t *>(out) + known, bytes - known);
  *view_as<uint32_t>(out) = static_cast<uint32_t>(bytes);
  return true;
}

// *out holds the defaults. `fewest`: of the oldest header that is served. A member of which only a part is there counts as missing.
template <class T>
bool take_struct(const T *given, size_t fewest, T *out) {
  return take_struct_bytes(given, fewest, alignof(T), out, sizeof(T));
}

// Element `index` of an array whose elements are `bytes` long in the caller's header.
template <class T>
bool take_element(const T *array, size_t bytes, uint32_t index, T *out) {
  const uint8_t *at = reinterpret_cast<const uint8_t *>(array) + bytes * index;
  const size_t known = bytes < sizeof(T) ? bytes : sizeof(T);
  for (size_t i = known; i < bytes; ++i) {
    if (at[i] != 0) return false;
  }
  copy_bytes(out, at, known);
  return true;
}

template <class T>
bool give_struct(const T &facts, T *out, size_t bytes) {
  return give_struct_bytes(&facts, sizeof(T), out, bytes);
}

template <class T>
bool give_struct(const T &facts, T *out) {
  return out != nullptr && give_struct(facts, out, out->struct_bytes);
}

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_STRUCTS_H_
