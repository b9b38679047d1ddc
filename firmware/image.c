/* image.c -- a complete firmware image around one compiled model: weights in flash, session in a static buffer, no heap. Steps
 * through the frames of image_data.h, says what it hears when the model has one output (a detector), compares every output with the
 * building machine's, and reports memory, stack and instructions. Exits 0 when all outputs agree to 1e-5.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "board/board.h"
#include "image_data.h"
#include "measure.h"
#include "stack_paint.h"
#include IMAGE_HEADER

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define THRESHOLD 0.5f

static uint8_t memory[PASTE(IMAGE_UPPER, _SESSION_BYTES)] __attribute__((aligned(PASTE(IMAGE_UPPER, _ALIGN))));
static rnnp_model model;
static rnnp_session *session;
static float x[PASTE(IMAGE_UPPER, _INPUT0_ELEMS)], y[PASTE(IMAGE_UPPER, _OUTPUT0_ELEMS)];
static uint32_t most_ticks, all_ticks;
static float worst;
static uint32_t stack_of_library; /* deepest use by the library: before the first printf, which is not ours */

static rnnp_status open_session(rnnp_memory *need) {
  rnnp_session_options options;
  rnnp_status status;
  PASTE(IMAGE_MODEL, _options)(&options);
  status = rnnp_model_open_with(&PASTE(IMAGE_MODEL, _registry), &model);
  if (status == RNNP_OK) status = rnnp_session_memory_with(&PASTE(IMAGE_MODEL, _registry), &model, &options, need);
  if (status == RNNP_OK)
    status = rnnp_session_init_with(&PASTE(IMAGE_MODEL, _registry), &session, &model, &options, memory, sizeof memory);
  return status;
}

static rnnp_status step(uint32_t frame) {
  const int16_t *samples = image_samples + frame * image_in_elems;
  rnnp_status status;
  uint32_t i, ticks;
  for (i = 0; i < image_in_elems; ++i) x[i] = (float)samples[i] * (1.0f / 32768.0f);
  board_ticks_start();
  measure_begin();
  status = rnnp_step(session, x, y);
  measure_end();
  ticks = board_ticks();
  if (ticks > most_ticks) most_ticks = ticks;
  all_ticks += ticks;
  return status;
}

/* The largest distance from the building machine's outputs; NaN counts as far off. */
static void compare(uint32_t frame) {
  const float *want = image_expected + frame * image_out_elems;
  uint32_t i;
  for (i = 0; i < image_out_elems; ++i) {
    const float d = y[i] < want[i] ? want[i] - y[i] : y[i] - want[i];
    if (!(d <= worst)) worst = d == d ? d : 1.0f;
  }
}

/* Says when a detector changes its mind. */
static void announce(uint32_t frame) {
  static int speaking;
  const int now = y[0] >= THRESHOLD;
  const unsigned ms = (unsigned)(frame * image_in_elems * 1000u / IMAGE_SAMPLE_RATE);
  if (image_out_elems != 1 || now == speaking) return;
  speaking = now;
  printf("%5u ms  %s (%u %%)\n", ms, now ? "speech" : "silence", (unsigned)(y[0] * 100.0f + 0.5f));
}

static void report(const rnnp_memory *need) {
  printf("board %s, model %s: %u multiply-accumulates a step\n", board_name, TEXT(IMAGE_MODEL), (unsigned)image_macs);
  printf("blob %u bytes in flash; session %u bytes (%u reserved), model handle %u bytes, stack %u bytes\n",
         (unsigned)PASTE(IMAGE_UPPER, _BYTES), (unsigned)need->session_bytes, (unsigned)sizeof memory, (unsigned)sizeof model,
         (unsigned)stack_of_library);
  printf("instructions per step: %u on average, %u at most (to %u)\n",
         (unsigned)(all_ticks / image_frames * board_instructions_per_tick), (unsigned)(most_ticks * board_instructions_per_tick),
         (unsigned)board_instructions_per_tick);
  printf("outputs differ from the building machine's by at most %u e-9\n", (unsigned)(worst * 1e9f));
}

int main(void) {
  const uint32_t outside = stack_paint();
  rnnp_memory need = RNNP_MEMORY_INIT;
  uint32_t frame;
  rnnp_status status = open_session(&need);
  for (frame = 0; frame < image_frames && status == RNNP_OK; ++frame) {
    status = step(frame);
    compare(frame);
    if (frame == 0) stack_of_library = stack_used() - outside;
    announce(frame);
  }
  if (status != RNNP_OK) {
    printf("FAILED with status %d\n", (int)status);
    return 1;
  }
  report(&need);
  if (need.session_bytes != sizeof memory) {
    printf("the header of the model says %u bytes\n", (unsigned)sizeof memory);
    return 4;
  }
#ifdef IMAGE_MOST_SESSION
  if (need.session_bytes > IMAGE_MOST_SESSION) {
    printf("the session takes more than %u bytes\n", IMAGE_MOST_SESSION);
    return 3;
  }
#endif
  return worst <= 1e-5f ? 0 : 2;
}
