/* Reads a whole file into aligned memory, as an application that keeps its blob in RAM would.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_BENCH_FILE_BYTES_H_
#define RNNPACK_BENCH_FILE_BYTES_H_

#include <stdio.h>
#include <stdlib.h>

enum { BLOB_ALIGNMENT = 4096 };

/* NULL when the file cannot be read. Free with free(). */
static inline void *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  void *data = NULL;
  long size = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
  if (size > 0) {
    rewind(file);
    *bytes = (size_t)size;
    data = aligned_alloc(BLOB_ALIGNMENT, ((size_t)size / BLOB_ALIGNMENT + 1) * BLOB_ALIGNMENT);
    if (data && fread(data, 1, *bytes, file) != *bytes) {
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  return data;
}

#endif /* RNNPACK_BENCH_FILE_BYTES_H_ */
