/* step_time.c BLOB -- the least nanoseconds of a step of zeros by the library that is linked in, for bindings/overhead.py.
 * SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>
#include <stdio.h>
#include <time.h>

enum { kPieces = 1000, kSteps = 1000 };

static _Alignas(64) char blob[1 << 16], memory[1 << 16];
static float x[64], y[64];

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **words) {
  rnnp_model model;
  rnnp_session *session;
  FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
  const size_t bytes = file ? fread(blob, 1, sizeof blob, file) : 0;
  if (rnnp_model_open(&model, blob, bytes, 0) != RNNP_OK) return 1;
  if (rnnp_session_init(&session, &model, NULL, memory, sizeof memory) != RNNP_OK) return 1;
  double least = 1e18;
  for (int piece = 0; piece < kPieces; ++piece) {
    const double start = now_ns();
    for (int step = 0; step < kSteps; ++step) {
      if (rnnp_step(session, x, y) != RNNP_OK) return 1;
    }
    const double took = (now_ns() - start) / kSteps;
    if (took < least) least = took;
  }
  printf("%.1f\n", least);
  return 0;
}
