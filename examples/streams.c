/* streams.c -- many independent streams through one session: each takes a row when it comes, runs whenever it has a frame, and
 * gives the row back when it ends. One call serves all that have a frame now, so the weights are read once for all of them.
 *
 *   streams MODEL.rnnp      a causal model with one sequence input, its states kept by the library (rnnpack compile --state ...)
 *
 * Frames are made up. Every stream also runs alone, and the two must agree in every bit. Exit code 0 when they do.
 * SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4u     /* streams at the same time */
#define STREAMS 12u /* in all */
#define FRAMES 9u   /* of each */

typedef struct stream {
  uint32_t number; /* which of the STREAMS */
  uint32_t row;    /* of the session */
  uint32_t frame;  /* the next one */
} stream;

typedef struct service {
  rnnp_model model;
  rnnp_session *session;
  size_t x_elems, y_elems;
  stream active[ROWS];
  uint32_t active_count;
} service;

static void require(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "streams: %s\n", what);
  exit(1);
}

static void *blocks[8];
static size_t block_count;

static void *memory_of(size_t bytes) { /* 64-byte aligned, until free_memory */
  unsigned char *p = (unsigned char *)calloc(1, bytes + 64);
  require(p != NULL && block_count < sizeof blocks / sizeof blocks[0], "no memory");
  blocks[block_count++] = p;
  return (void *)(((uintptr_t)p + 63u) & ~(uintptr_t)63u);
}

static void free_memory(void) {
  while (block_count > 0) free(blocks[--block_count]);
}

/* Frame `frame` of stream `number`: any numbers will do. */
static void make_frame(const service *s, uint32_t number, uint32_t frame, float *x) {
  size_t i;
  for (i = 0; i < s->x_elems; ++i) x[i] = (float)((number * 7919u + frame * 104729u + i * 37u) % 1009u) / 1009.0f - 0.5f;
}

/* One step of `count` rows: the session's rows `rows`, x and y packed in that order. */
static void run_rows(const service *s, const uint32_t *rows, uint32_t count, float *x, float *y) {
  rnnp_const_buffer in;
  rnnp_buffer out;
  rnnp_io io = RNNP_IO_INIT;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  in.data = x;
  out.data = y;
  io.steps = 1;
  io.batch = count;
  io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  io.rows = rows;
  require(rnnp_run_io(s->session, &io) == RNNP_OK, "the run failed");
}

static rnnp_session *open_session(const rnnp_model *model, uint32_t rows) {
  rnnp_session_options options;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session *session = NULL;
  rnnp_session_options_init(&options, sizeof options);
  options.max_batch = rows;
  require(rnnp_session_memory(model, &options, &need) == RNNP_OK, "the model does not fit this library");
  require(rnnp_session_init(&session, model, &options, memory_of(need.session_bytes), need.session_bytes) == RNNP_OK, "no session");
  return session;
}

static void open_model(service *s, const char *path) {
  FILE *file = fopen(path, "rb");
  rnnp_model_info facts;
  rnnp_tensor_info x, y;
  long bytes;
  void *blob;
  require(file != NULL && fseek(file, 0, SEEK_END) == 0, "cannot open the model");
  bytes = ftell(file);
  require(bytes > 0 && fseek(file, 0, SEEK_SET) == 0, "cannot read the model");
  blob = memory_of((size_t)bytes);
  require(fread(blob, 1, (size_t)bytes, file) == (size_t)bytes, "cannot read the model");
  fclose(file);
  facts.struct_bytes = sizeof facts;
  x.struct_bytes = y.struct_bytes = sizeof x;
  require(rnnp_model_open(&s->model, blob, (size_t)bytes, RNNP_OPEN_CHECK_WEIGHTS) == RNNP_OK, "not a model of this library");
  require(rnnp_model_get_info(&s->model, &facts) == RNNP_OK && facts.causal && facts.input_count == 1 && facts.output_count == 1 &&
              rnnp_model_get_input(&s->model, 0, &x) == RNNP_OK && rnnp_model_get_output(&s->model, 0, &y) == RNNP_OK &&
              x.role == RNNP_ROLE_SEQUENCE && y.role == RNNP_ROLE_SEQUENCE,
          "the model must be causal, with one sequence in and one out");
  s->x_elems = x.row_elems;
  s->y_elems = y.row_elems;
}

/* A stream comes: it gets a free row, which starts from the model's initial state. */
static void join(service *s, uint32_t number) {
  uint32_t row = 0, i = 0;
  while (i < s->active_count) {
    if (s->active[i++].row != row) continue;
    ++row;
    i = 0;
  }
  require(rnnp_state_reset(s->session, row) == RNNP_OK, "no such row");
  s->active[s->active_count].number = number;
  s->active[s->active_count].row = row;
  s->active[s->active_count++].frame = 0;
}

/* One tick: every stream with a frame ready goes on by it; `results` is [STREAMS][FRAMES][y_elems]. Streams that ended leave. */
static void tick(service *s, uint32_t now, float *x, float *y, float *results) {
  uint32_t rows[ROWS], who[ROWS], count = 0, i;
  for (i = 0; i < s->active_count; ++i) {
    if ((now + s->active[i].number) % 3u == 0) continue; /* no frame this time */
    make_frame(s, s->active[i].number, s->active[i].frame, x + count * s->x_elems);
    rows[count] = s->active[i].row;
    who[count++] = i;
  }
  if (count == 0) return;
  run_rows(s, rows, count, x, y);
  for (i = count; i-- > 0;) {
    stream *one = &s->active[who[i]];
    memcpy(results + (one->number * FRAMES + one->frame) * s->y_elems, y + i * s->y_elems, s->y_elems * sizeof(float));
    if (++one->frame == FRAMES) *one = s->active[--s->active_count];
  }
}

int main(int argc, char **argv) {
  service s;
  float *x, *y, *results, *alone;
  uint32_t next = 0, now, row = 0, number, frame;
  require(argc == 2, "usage: streams MODEL.rnnp");
  memset(&s, 0, sizeof s);
  open_model(&s, argv[1]);
  x = (float *)memory_of(ROWS * s.x_elems * sizeof(float));
  y = (float *)memory_of(ROWS * s.y_elems * sizeof(float));
  results = (float *)memory_of(STREAMS * FRAMES * s.y_elems * sizeof(float));
  alone = (float *)memory_of(s.y_elems * sizeof(float));

  s.session = open_session(&s.model, ROWS);
  for (now = 0; next < STREAMS || s.active_count > 0; ++now) {
    if (next < STREAMS && s.active_count < ROWS && now % 2u == 0) join(&s, next++);
    tick(&s, now, x, y, results);
  }

  s.session = open_session(&s.model, 1);
  for (number = 0; number < STREAMS; ++number) {
    require(rnnp_state_reset(s.session, row) == RNNP_OK, "no such row");
    for (frame = 0; frame < FRAMES; ++frame) {
      make_frame(&s, number, frame, x);
      run_rows(&s, &row, 1, x, alone);
      require(memcmp(alone, results + (number * FRAMES + frame) * s.y_elems, s.y_elems * sizeof(float)) == 0,
              "a stream differs from itself alone");
    }
  }
  printf("%u streams of %u frames in %u ticks through %u rows, each as if alone\n", STREAMS, FRAMES, now, ROWS);
  free_memory();
  return 0;
}
