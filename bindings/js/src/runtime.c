/* runtime.c -- what the modules need of a C library and a compiler's runtime: memcpy, memmove and memset (instructions of
 * WebAssembly where it has them, -mbulk-memory, else loops), memcmp, and the product of checked.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#ifdef __wasm_bulk_memory__
void *memcpy(void *to, const void *from, size_t bytes) {
  return __builtin_memcpy(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}

void *memset(void *to, int byte, size_t bytes) {
  return __builtin_memset(to, byte, bytes);
}
#else
void *memcpy(void *to, const void *from, size_t bytes) {
  unsigned char *t = to;
  const unsigned char *f = from;
  while (bytes-- > 0) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t <= f) return memcpy(to, from, bytes);
  while (bytes-- > 0) t[bytes] = f[bytes];
  return to;
}

void *memset(void *to, int byte, size_t bytes) {
  unsigned char *t = to;
  while (bytes-- > 0) *t++ = (unsigned char)byte;
  return to;
}
#endif

int memcmp(const void *a, const void *b, size_t bytes) {
  const unsigned char *x = a, *y = b;
  for (; bytes > 0; ++x, ++y, --bytes) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}

/* 128-bit product from 64-bit ones, by halves of 32 bits. */
__extension__ typedef __int128 Wide;

Wide __multi3(Wide a, Wide b) {
  const uint64_t a0 = (uint32_t)a, a1 = (uint64_t)a >> 32, b0 = (uint32_t)b, b1 = (uint64_t)b >> 32;
  const uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), middle = a0 * b1 + (uint32_t)cross;
  const uint64_t high =
      a1 * b1 + (cross >> 32) + (middle >> 32) + (uint64_t)a * (uint64_t)(b >> 64) + (uint64_t)(a >> 64) * (uint64_t)b;
  return (Wide)(((unsigned __int128)high << 64) | (middle << 32) | (uint32_t)low);
}
