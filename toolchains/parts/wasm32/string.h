/* string.h -- the four functions that the device library takes from a C library, where there is none (toolchains/wasm32.cmake).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_WASM32_STRING_H_
#define RNNPACK_WASM32_STRING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_WASM32_STRING_H_ */
