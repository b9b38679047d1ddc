/* consumer.c -- a C99 program (also compiled as C++) that uses the public header alone: open, ask, init, stream, save, load.
 * SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>
#include <stdio.h>
#include <string.h>

#define STEPS 25

static union {
  uint64_t align64[8];
  unsigned char bytes[1 << 20];
} blob, memory;

static void *aligned(void *p) {
  return (void *)(((uintptr_t)p + 63u) & ~(uintptr_t)63u);
}

static int check(rnnp_status status, const char *what) {
  if (status != RNNP_OK) printf("%s: %s\n", what, rnnp_status_string(status));
  return status == RNNP_OK;
}

int main(int argc, char **argv) {
  static float x[STEPS][40], whole[STEPS][3], cut[STEPS][3];
  static unsigned char state[4096];
  unsigned char *bytes = (unsigned char *)aligned(blob.bytes);
  unsigned char *mem = (unsigned char *)aligned(memory.bytes);
  rnnp_model model;
  rnnp_model_info facts;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session *session = NULL;
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  size_t size, i;
  if (file == NULL) return 2;
  size = fread(bytes, 1, sizeof blob.bytes - 64, file);
  fclose(file);
  for (i = 0; i < sizeof x / sizeof(float); ++i) x[i / 40][i % 40] = (float)(i * 37 % 101) / 101.0f - 0.5f;
  memset(&facts, 0, sizeof facts);
  facts.struct_bytes = sizeof facts;
  if (!check(rnnp_model_open(&model, bytes, size, RNNP_OPEN_CHECK_WEIGHTS), "open")) return 1;
  if (!check(rnnp_model_get_info(&model, &facts), "info") || facts.recurrent_count != 2) return 1;
  if (!check(rnnp_session_memory(&model, NULL, &need), "memory") || need.state_bytes > sizeof state) return 1;
  if (!check(rnnp_session_init(&session, &model, NULL, mem, sizeof memory.bytes - 64), "init")) return 1;
  if (!check(rnnp_run(session, STEPS, x, whole), "run")) return 1;
  if (!check(rnnp_state_reset(session, 0), "reset")) return 1;
  for (i = 0; i < STEPS; ++i) {
    if (!check(rnnp_step(session, x[i], cut[i]), "step")) return 1;
    if (!check(rnnp_state_save(session, 0, state, sizeof state), "save")) return 1;
    if (!check(rnnp_state_load(session, 0, state, need.state_bytes), "load")) return 1;
  }
  if (memcmp(whole, cut, sizeof whole) != 0) {
    printf("streaming and offline differ\n");
    return 1;
  }
  printf("version %u, %u bytes of session memory, y[last] = %g %g %g\n", (unsigned)rnnp_version(), (unsigned)need.session_bytes,
         (double)whole[STEPS - 1][0], (double)whole[STEPS - 1][1], (double)whole[STEPS - 1][2]);
  return 0;
}
