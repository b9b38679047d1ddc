/* program.c -- a program of ABI 1.0: it is compiled against the header beside it, which never changes, and runs with the present
 * library. Uses every function. program.c BLOB; the blob has one input and one output. SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6u

static int failures;

static void expect(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "program of ABI 1.0: %s\n", what);
  ++failures;
}

static void *aligned(size_t bytes, size_t alignment) {
  char *memory = malloc(bytes + alignment);
  return memory == NULL ? NULL : memory + (alignment - (uintptr_t)memory % alignment) % alignment;
}

static void *read_blob(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  void *blob;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return NULL;
  *bytes = (size_t)ftell(file);
  rewind(file);
  blob = aligned(*bytes, 64);
  if (blob != NULL && fread(blob, 1, *bytes, file) != *bytes) blob = NULL;
  fclose(file);
  return blob;
}

static void one_thread(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
  ++*(int *)ctx;
  task(arg, 0);
}

static void check_model(const rnnp_model *model, rnnp_tensor_info *in, rnnp_tensor_info *out) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  uint32_t index = 7;
  expect(rnnp_version() >= RNNP_HEADER_VERSION && rnnp_version() / 10000 == RNNP_HEADER_VERSION / 10000, "the library's version");
  expect(rnnp_model_get_info(model, &facts) == RNNP_OK && facts.struct_bytes == sizeof facts, "rnnp_model_get_info");
  expect(facts.blob_version >= rnnp_blob_version_min() && facts.blob_version <= rnnp_blob_version_max() && facts.input_count == 1 &&
             facts.output_count == 1,
         "what the model is");
  expect(facts.causal == 1 && facts.blob_bytes > facts.weight_bytes && facts.macs_per_step > 0, "what the model costs");
  expect(rnnp_model_get_input(model, 0, in) == RNNP_OK && in->role == RNNP_ROLE_SEQUENCE && in->row_elems > 0,
         "rnnp_model_get_input");
  expect(in->dims[0] == RNNP_DIM_STEPS && in->dtype == RNNP_DTYPE_F32 && strlen(in->name) > 0, "an input");
  expect(rnnp_model_get_output(model, 0, out) == RNNP_OK && out->row_elems > 0, "rnnp_model_get_output");
  expect(rnnp_model_find_input(model, in->name, &index) == RNNP_OK && index == 0, "rnnp_model_find_input");
  expect(rnnp_model_find_output(model, out->name, &index) == RNNP_OK && index == 0, "rnnp_model_find_output");
  expect(rnnp_model_find_input(model, "no such input", &index) == RNNP_E_ARG, "an input that there is not");
}

static rnnp_session *make(const rnnp_model *model, const rnnp_session_options *options, rnnp_memory *need) {
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;
  rnnp_session *session = NULL;
  void *memory;
  expect(rnnp_session_memory(model, options, need) == RNNP_OK && need->session_bytes > 0, "rnnp_session_memory");
  memory = aligned(need->session_bytes, need->alignment);
  expect(rnnp_session_explain(model, options, memory, 1, &refusal) == RNNP_E_SMALL_MEMORY, "rnnp_session_explain, a refusal");
  expect(refusal.needed == need->session_bytes && refusal.node == RNNP_NO_NODE && strlen(refusal.reason) > 0, "a refusal");
  expect(rnnp_session_explain(model, options, memory, need->session_bytes, &refusal) == RNNP_OK, "rnnp_session_explain");
  expect(rnnp_session_init(&session, model, options, memory, need->session_bytes) == RNNP_OK, "rnnp_session_init");
  return session;
}

/* The same steps by every call: all at once, one by one, with strides, in place; from a state that was saved. */
static void check_runs(rnnp_session *session, const rnnp_memory *need, size_t in, size_t out) {
  const size_t wide = (in > out ? in : out) + 3;
  float *x = calloc(STEPS * in, sizeof *x), *y = calloc(STEPS * out, sizeof *y), *again = calloc(STEPS * out, sizeof *y);
  float *strided = calloc(STEPS * wide, sizeof *strided);
  void *state = malloc(need->state_bytes);
  rnnp_const_buffer input = {NULL, 0, 0};
  rnnp_buffer output = {NULL, 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  size_t t;
  for (t = 0; t < STEPS * in; ++t) x[t] = (float)(t % 13) * 0.1f - 0.6f;
  expect(rnnp_state_save(session, 0, state, need->state_bytes) == RNNP_OK, "rnnp_state_save");
  expect(rnnp_run(session, STEPS, x, y) == RNNP_OK, "rnnp_run");
  expect(rnnp_state_load(session, 0, state, need->state_bytes) == RNNP_OK, "rnnp_state_load");
  for (t = 0; t < STEPS; ++t) expect(rnnp_step(session, x + t * in, again + t * out) == RNNP_OK, "rnnp_step");
  expect(memcmp(y, again, STEPS * out * sizeof *y) == 0, "rnnp_step gives other bits");
  expect(rnnp_state_reset(session, RNNP_ALL_ROWS) == RNNP_OK, "rnnp_state_reset");
  for (t = 0; t < STEPS; ++t) memcpy(strided + t * wide, x + t * in, in * sizeof *x);
  input.data = strided;
  output.data = strided;
  input.step_stride_bytes = output.step_stride_bytes = input.row_stride_bytes = output.row_stride_bytes = wide * sizeof *strided;
  io.steps = STEPS;
  io.batch = io.input_count = io.output_count = 1;
  io.inputs = &input;
  io.outputs = &output;
  expect(rnnp_run_io(session, &io) == (out <= in ? RNNP_OK : RNNP_E_ARG), "rnnp_run_io");
  for (t = 0; t < STEPS && out <= in; ++t)
    expect(memcmp(strided + t * wide, y + t * out, out * sizeof *y) == 0, "rnnp_run_io gives other bits");
  io.flags = RNNP_RUN_LAST_STEP;
  io.batch = 2;
  expect(rnnp_run_io(session, &io) == RNNP_E_SHAPE, "more rows than there are");
  expect(strlen(rnnp_session_last_error(session)) > 0, "rnnp_session_last_error");
  io.batch = 1;
  io.flags = RNNP_RUN_CHECK_FINITE;
  memset(strided, 0xff, in * sizeof *strided);
  expect(rnnp_run_io(session, &io) == RNNP_E_NOT_FINITE, "NaN in an input");
  free(x);
  free(y);
  free(again);
  free(strided);
  free(state);
}

int main(int argc, char **argv) {
  size_t bytes = 0;
  void *blob = argc > 1 ? read_blob(argv[1], &bytes) : NULL;
  rnnp_model model;
  rnnp_tensor_info in = RNNP_TENSOR_INFO_INIT, out = RNNP_TENSOR_INFO_INIT;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
  rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
  rnnp_executor executor = RNNP_EXECUTOR_INIT;
  int calls = 0;
  rnnp_session *session;
  if (blob == NULL || rnnp_model_open(&model, blob, bytes, RNNP_OPEN_CHECK_WEIGHTS) != RNNP_OK) {
    fprintf(stderr, "no blob\n");
    return 2;
  }
  check_model(&model, &in, &out);
  session = make(&model, NULL, &need);
  if (session != NULL) check_runs(session, &need, in.row_elems, out.row_elems);
  rnnp_session_options_init(&options, sizeof options);
  executor.ctx = &calls;
  executor.parallel = one_thread;
  options.executor = &executor;
  options.chunk_steps = 2;
  options.isa_allowed = RNNP_ISA_REFERENCE_ONLY;
  options.flags = RNNP_SESSION_PORTABLE_OPS;
  options.l1d_bytes = options.l2_bytes = options.l3_bytes = RNNP_CACHE_NONE;
  session = make(&model, &options, &need);
  expect(rnnp_session_get_info(session, &facts) == RNNP_OK && facts.chunk_steps == 2 && facts.isa == 0, "rnnp_session_get_info");
  expect(strcmp(rnnp_isa_name(facts.isa), "reference") == 0, "rnnp_isa_name");
  if (session != NULL) check_runs(session, &need, in.row_elems, out.row_elems);
  options.flags = 1u << 31;
  expect(rnnp_session_memory(&model, &options, &need) == RNNP_E_ARG, "an unknown flag");
  printf("ABI 1.0 on library %u: %s\n", (unsigned)rnnp_version(), failures != 0 ? "failed" : rnnp_status_string(RNNP_OK));
  return failures != 0;
}
