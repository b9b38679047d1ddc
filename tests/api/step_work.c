/* step_work.c -- runs N steps of a blob on one kind of input, for check_bounded_steps.py to count: step_work BLOB N KIND.
 * SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static union {
  uint64_t words[1 << 17];
  unsigned char bytes[1 << 20];
} blob_storage, memory_storage;

static void *aligned(void *p) {
  return (void *)(((uintptr_t)p + 63u) & ~(uintptr_t)63u);
}

static float sample(const char *kind, int i) {
  const float wavefront = (float)(i * 7919 % 1009) / 1009.0f - 0.5f;
  const uint32_t nan_bits = 0x7fc00000u;
  float nan_value;
  memcpy(&nan_value, &nan_bits, sizeof nan_value);
  if (strcmp(kind, "zero") == 0) return 0.0f;
  if (strcmp(kind, "huge") == 0) return wavefront * 3e38f;
  if (strcmp(kind, "denormal") == 0) return wavefront * 1e-40f;
  return strcmp(kind, "nan") == 0 ? nan_value : wavefront;
}

int main(int argc, char **argv) {
  void *blob = aligned(blob_storage.bytes), *memory = aligned(memory_storage.bytes);
  float x[40], y[3];
  rnnp_model model;
  rnnp_session *session = NULL;
  FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
  size_t bytes;
  int i, k;
  if (file == NULL) return 2;
  bytes = fread(blob, 1, sizeof blob_storage - 64, file);
  fclose(file);
  if (rnnp_model_open(&model, blob, bytes, 0) != RNNP_OK) return 1;
  if (rnnp_session_init(&session, &model, NULL, memory, sizeof memory_storage - 64) != RNNP_OK) return 1;
  for (i = 0; i < atoi(argv[2]); ++i) {
    for (k = 0; k < 40; ++k) x[k] = sample(argv[3], i * 40 + k);
    if (rnnp_step(session, x, y) != RNNP_OK) return 1;
  }
  return 0;
}
