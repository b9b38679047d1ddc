/* device_test.c -- the library on a device, in plain C, without heap or files: models, inputs and expected outputs are in flash.
 * For every case: near the double-precision reference; cut into steps gives the same bits; a state that another machine saved half
 * way continues to the same answer; and the state saved here agrees with that one.
 * The bound between devices is |a - b| <= 1e-5 max(1, |b|): their sums are rounded differently only where one has fused
 * multiply-adds. The checksum printed last tells which devices agree bit for bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "device_case.h"
#include "rnnpack/rnnpack.h"

#define MAX_MEMORY (48 * 1024)
#define MAX_OUTPUTS 1024
#define MAX_STATE 512
#define STATE_HEADER 24

static unsigned char memory[MAX_MEMORY] __attribute__((aligned(64)));
static float y[MAX_OUTPUTS], again[MAX_OUTPUTS];
static unsigned char saved[MAX_STATE];
static rnnp_model model;
static rnnp_session *session;
static const struct device_case *at;
static int failures;
static float worst;
static uint32_t checksum = 2166136261u;

static void fail(const char *what, long detail) {
  printf("FAIL %s: %s (%ld)\n", at->name, what, detail);
  ++failures;
}

static void expect_ok(rnnp_status status, const char *what) {
  if (status != RNNP_OK) fail(what, status);
}

/* Within the bound? NaN is not. */
static void expect_near(const float *got, const float *want, size_t count, const char *what) {
  size_t i;
  for (i = 0; i < count; ++i) {
    const float size = want[i] < 0 ? -want[i] : want[i];
    const float distance = got[i] < want[i] ? want[i] - got[i] : got[i] - want[i];
    if (!(distance <= 1e-5f * (size > 1 ? size : 1))) {
      fail(what, (long)i);
      return;
    }
    if (distance > worst) worst = distance;
  }
}

static void mix_checksum(const float *v, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, v + i, sizeof bits);
    checksum = (checksum ^ bits) * 16777619u;
  }
}

static int open_case(void) {
  rnnp_session_options options;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session_options_init(&options, sizeof options);
  options.max_batch = at->batch;
  options.max_steps = at->steps;
  options.chunk_steps = (uint32_t)(at - device_cases) % 2 ? 4 : 1; /* both paths of the input projection */
  expect_ok(rnnp_model_open(&model, at->blob, at->blob_bytes, RNNP_OPEN_CHECK_WEIGHTS), "open");
  expect_ok(rnnp_session_memory(&model, &options, &need), "memory");
  if (need.session_bytes > sizeof memory || need.state_bytes > sizeof saved) {
    fail("needs more memory than the test has", (long)need.session_bytes);
    return 0;
  }
  memset(memory, 0xa5, sizeof memory);
  session = NULL;
  expect_ok(rnnp_session_init(&session, &model, &options, memory, need.session_bytes), "init");
  return session != NULL;
}

static size_t outputs_of(uint32_t steps) {
  return (size_t)steps * at->batch * at->out_elems;
}

static void run(uint32_t first, uint32_t steps, float *to) {
  rnnp_const_buffer in = {NULL, 0, 0};
  rnnp_buffer out = {NULL, 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  in.data = (void *)(uintptr_t)(at->x + (size_t)first * at->batch * at->in_elems);
  out.data = to;
  io.steps = steps;
  io.batch = at->batch;
  io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  io.lengths = at->lengths;
  expect_ok(rnnp_run_io(session, &io), "run");
}

static void check_whole(void) {
  run(0, at->steps, y);
  expect_near(y, at->want, outputs_of(at->steps), "the reference");
  mix_checksum(y, outputs_of(at->steps));
}

static void check_streaming(void) {
  uint32_t t;
  expect_ok(rnnp_state_reset(session, RNNP_ALL_ROWS), "reset");
  for (t = 0; t < at->steps; ++t) run(t, 1, again + outputs_of(t));
  if (memcmp(y, again, outputs_of(at->steps) * sizeof(float)) != 0) fail("step by step differs", 0);
}

/* The other machine's state continues here, and what is saved here at the same step is near it. */
static void check_state(void) {
  const uint32_t rest = at->steps - at->half_steps;
  float here[MAX_STATE / 4], there[MAX_STATE / 4];
  uint32_t row;
  expect_ok(rnnp_state_reset(session, RNNP_ALL_ROWS), "reset");
  run(0, at->half_steps, again);
  for (row = 0; row < at->batch; ++row) {
    const unsigned char *other = at->state + row * at->state_bytes;
    expect_ok(rnnp_state_save(session, row, saved, sizeof saved), "save");
    if (memcmp(saved, other, STATE_HEADER - 4) != 0) fail("the saved header differs", (long)row);
    memcpy(here, saved + STATE_HEADER, at->state_bytes - STATE_HEADER);
    memcpy(there, other + STATE_HEADER, at->state_bytes - STATE_HEADER);
    expect_near(here, there, (at->state_bytes - STATE_HEADER) / 4, "the saved state");
    expect_ok(rnnp_state_load(session, row, other, at->state_bytes), "load");
  }
  run(at->half_steps, rest, again);
  expect_near(again, at->want + outputs_of(at->half_steps), outputs_of(rest), "continued from another machine");
}

int main(void) {
  uint32_t i, isa = 0;
  for (i = 0; i < device_case_count; ++i) {
    rnnp_session_info facts;
    at = &device_cases[i];
    if (!open_case()) continue;
    check_whole();
    if (at->state != NULL) {
      check_streaming();
      check_state();
    }
    memset(&facts, 0, sizeof facts);
    facts.struct_bytes = sizeof facts;
    expect_ok(rnnp_session_get_info(session, &facts), "info");
    isa |= facts.isa;
  }
  printf("%u cases, %d failures, isa 0x%x, worst error %ld e-9, checksum %08lx\n", (unsigned)device_case_count, failures,
         (unsigned)isa, (long)(worst * 1e9f), (unsigned long)checksum);
  return failures != 0;
}
