/* cuda_runtime_api.h -- the functions of CUDA's runtime that docs/CUDA.md's program calls, on the host's memory: so that the
 * page's program is compiled and run where there is no CUDA. SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_TESTS_CUDA_EMULATED_RUNTIME_H_
#define RNNPACK_TESTS_CUDA_EMULATED_RUNTIME_H_

#include <stdlib.h>

enum { cudaHostAllocMapped = 2 };

static inline int cudaMalloc(void **p, size_t bytes) {
  return posix_memalign(p, 256, bytes);
}
static inline int cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
  (void)flags;
  return posix_memalign(p, 256, bytes);
}
static inline int cudaFree(void *p) {
  free(p);
  return 0;
}
static inline int cudaFreeHost(void *p) {
  return cudaFree(p);
}

#endif /* RNNPACK_TESTS_CUDA_EMULATED_RUNTIME_H_ */
