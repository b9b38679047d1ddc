/* rnnpack_jni.c -- the native methods of org.rnnpack.Native. Arguments were checked in Java; memory is malloc's, and no reference
 * to a Java object outlives its call. SPDX-License-Identifier: Apache-2.0 */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "rnnpack/rnnpack.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_org_rnnpack_Native_##name

typedef struct {
  void *block;
  rnnp_model model;
} Model;

typedef struct {
  void *block;
  rnnp_session *session;
  rnnp_io io;
  rnnp_const_buffer *inputs;
  rnnp_buffer *outputs;
  uint32_t *rows;
  int32_t *lengths;
} Session;

static Model *model_at(jlong handle) {
  return (Model *)(intptr_t)handle;
}

static Session *session_at(jlong handle) {
  return (Session *)(intptr_t)handle;
}

/* NULL where there is no memory; *block is what free takes. */
static void *aligned(size_t bytes, size_t alignment, void **block) {
  *block = bytes <= SIZE_MAX - alignment ? malloc(bytes + alignment) : NULL;
  if (*block == NULL) return NULL;
  return (void *)(((uintptr_t)*block + alignment - 1) / alignment * alignment);
}

NATIVE(jint, version)(JNIEnv *env, jclass self) {
  (void)env, (void)self;
  return (jint)rnnp_version();
}

NATIVE(jstring, statusText)(JNIEnv *env, jclass self, jint status) {
  (void)self;
  return (*env)->NewStringUTF(env, rnnp_status_string(status));
}

NATIVE(jstring, isaName)(JNIEnv *env, jclass self, jint bit) {
  (void)self;
  return (*env)->NewStringUTF(env, rnnp_isa_name((uint32_t)bit));
}

NATIVE(jlong, address)(JNIEnv *env, jclass self, jobject buffer) {
  (void)self;
  return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

/* --- Model --- */

NATIVE(void, closeModel)(JNIEnv *env, jclass self, jlong handle) {
  (void)env, (void)self;
  free(model_at(handle)->block);
  free(model_at(handle));
}

NATIVE(jlong, openModel)(JNIEnv *env, jclass self, jbyteArray bytes, jboolean check) {
  const jsize count = (*env)->GetArrayLength(env, bytes);
  Model *const model = calloc(1, sizeof *model);
  if (model == NULL) return RNNP_E_SMALL_MEMORY;
  void *const blob = aligned((size_t)count, RNNP_BLOB_ALIGN, &model->block);
  rnnp_status status = blob != NULL ? RNNP_OK : RNNP_E_SMALL_MEMORY;
  if (blob != NULL) {
    (*env)->GetByteArrayRegion(env, bytes, 0, count, blob);
    status = rnnp_model_open(&model->model, blob, (size_t)count, check ? RNNP_OPEN_CHECK_WEIGHTS : 0);
  }
  if (status == RNNP_OK) return (jlong)(intptr_t)model;
  Java_org_rnnpack_Native_closeModel(env, self, (jlong)(intptr_t)model);
  return status;
}

NATIVE(jint, modelInfo)(JNIEnv *env, jclass self, jlong handle, jlongArray facts) {
  (void)self;
  rnnp_model_info info = RNNP_MODEL_INFO_INIT;
  const rnnp_status status = rnnp_model_get_info(&model_at(handle)->model, &info);
  const jlong all[] = {info.input_count, info.output_count,        info.causal,
                       info.fixed_batch, (jlong)info.weight_bytes, (jlong)info.model_id};
  (*env)->SetLongArrayRegion(env, facts, 0, 6, all);
  return status;
}

NATIVE(jstring, tensor)(JNIEnv *env, jclass self, jlong handle, jboolean input, jint index, jintArray facts) {
  (void)self;
  rnnp_tensor_info info = RNNP_TENSOR_INFO_INIT;
  const rnnp_model *const model = &model_at(handle)->model;
  const rnnp_status status =
      input ? rnnp_model_get_input(model, (uint32_t)index, &info) : rnnp_model_get_output(model, (uint32_t)index, &info);
  if (status != RNNP_OK) return NULL;
  jint all[5 + RNNP_MAX_RANK] = {(jint)info.role, (jint)info.row_elems, (jint)info.dtype, (jint)info.limit, (jint)info.rank};
  memcpy(all + 5, info.dims, sizeof info.dims);
  (*env)->SetIntArrayRegion(env, facts, 0, 5 + RNNP_MAX_RANK, all);
  return (*env)->NewStringUTF(env, info.name);
}

NATIVE(jstring, meta)(JNIEnv *env, jclass self, jlong handle, jstring key) {
  (void)self;
  const char *const text = (*env)->GetStringUTFChars(env, key, NULL);
  if (text == NULL) return NULL;
  const char *const value = rnnp_model_meta(&model_at(handle)->model, text);
  (*env)->ReleaseStringUTFChars(env, key, text);
  return value == NULL ? NULL : (*env)->NewStringUTF(env, value);
}

/* --- Session --- */

static rnnp_session_options options_of(jint max_batch, jint max_steps, jint chunk_steps, jint isa) {
  rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
  options.max_batch = (uint32_t)max_batch;
  options.max_steps = (uint32_t)max_steps;
  options.chunk_steps = (uint32_t)chunk_steps;
  options.isa_allowed = (uint32_t)isa;
  return options;
}

static void free_session(Session *session) {
  free(session->block);
  free(session->inputs);
  free(session->outputs);
  free(session->rows);
  free(session->lengths);
  free(session);
}

static rnnp_status make_tables(Session *session, const rnnp_model *model, uint32_t max_batch) {
  rnnp_model_info info = RNNP_MODEL_INFO_INIT;
  const rnnp_status status = rnnp_model_get_info(model, &info);
  if (status != RNNP_OK) return status;
  session->inputs = calloc(info.input_count + 1u, sizeof *session->inputs);
  session->outputs = calloc(info.output_count + 1u, sizeof *session->outputs);
  session->rows = calloc(max_batch, sizeof *session->rows);
  session->lengths = calloc(max_batch, sizeof *session->lengths);
  session->io = (rnnp_io)RNNP_IO_INIT;
  session->io.input_count = info.input_count;
  session->io.output_count = info.output_count;
  session->io.inputs = session->inputs;
  session->io.outputs = session->outputs;
  const int all = session->inputs != NULL && session->outputs != NULL && session->rows != NULL && session->lengths != NULL;
  return all ? RNNP_OK : RNNP_E_SMALL_MEMORY;
}

static rnnp_status make_session(Session *session, const rnnp_model *model, const rnnp_session_options *options,
                                size_t *state_bytes) {
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_status status = rnnp_session_memory(model, options, &need);
  if (status != RNNP_OK) return status;
  *state_bytes = need.state_bytes;
  void *const memory = aligned(need.session_bytes, need.alignment, &session->block);
  if (memory == NULL) return RNNP_E_SMALL_MEMORY;
  status = rnnp_session_init(&session->session, model, options, memory, need.session_bytes);
  return status == RNNP_OK ? make_tables(session, model, options->max_batch) : status;
}

NATIVE(jlong, openSession)
(JNIEnv *env, jclass self, jlong handle, jint max_batch, jint max_steps, jint chunk_steps, jint isa, jlongArray sizes) {
  (void)self;
  const rnnp_session_options options = options_of(max_batch, max_steps, chunk_steps, isa);
  Session *const session = calloc(1, sizeof *session);
  if (session == NULL) return RNNP_E_SMALL_MEMORY;
  size_t state_bytes = 0;
  const rnnp_status status = make_session(session, &model_at(handle)->model, &options, &state_bytes);
  if (status != RNNP_OK) {
    free_session(session);
    return status;
  }
  const jlong bytes = (jlong)state_bytes;
  (*env)->SetLongArrayRegion(env, sizes, 0, 1, &bytes);
  return (jlong)(intptr_t)session;
}

NATIVE(jstring, explain)(JNIEnv *env, jclass self, jlong handle, jint max_batch, jint max_steps, jint chunk_steps, jint isa) {
  (void)self;
  const rnnp_session_options options = options_of(max_batch, max_steps, chunk_steps, isa);
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;
  const rnnp_status status = rnnp_session_explain(&model_at(handle)->model, &options, NULL, 0, &refusal);
  return status == RNNP_OK || refusal.reason == NULL ? NULL : (*env)->NewStringUTF(env, refusal.reason);
}

NATIVE(void, closeSession)(JNIEnv *env, jclass self, jlong handle) {
  (void)env, (void)self;
  free_session(session_at(handle));
}

NATIVE(jint, sessionIsa)(JNIEnv *env, jclass self, jlong handle) {
  (void)env, (void)self;
  rnnp_session_info info = RNNP_SESSION_INFO_INIT;
  return rnnp_session_get_info(session_at(handle)->session, &info) == RNNP_OK ? (jint)info.isa : 0;
}

NATIVE(jint, step)(JNIEnv *env, jclass self, jlong handle, jlong x, jlong y) {
  (void)env, (void)self;
  return rnnp_step(session_at(handle)->session, (const void *)(intptr_t)x, (void *)(intptr_t)y);
}

NATIVE(jint, run)(JNIEnv *env, jclass self, jlong handle, jlong steps, jlong x, jlong y) {
  (void)env, (void)self;
  return rnnp_run(session_at(handle)->session, (size_t)steps, (const void *)(intptr_t)x, (void *)(intptr_t)y);
}

NATIVE(jint, runIo)
(JNIEnv *env, jclass self, jlong handle, jint steps, jint batch, jint flags, jintArray rows, jintArray lengths, jlongArray inputs,
 jlongArray outputs) {
  (void)self;
  Session *const session = session_at(handle);
  rnnp_io *const io = &session->io;
  io->steps = (size_t)steps;
  io->batch = (uint32_t)batch;
  io->flags = (uint32_t)flags;
  io->rows = rows != NULL ? session->rows : NULL;
  io->lengths = lengths != NULL ? session->lengths : NULL;
  if (rows != NULL) (*env)->GetIntArrayRegion(env, rows, 0, batch, (jint *)session->rows);
  if (lengths != NULL) (*env)->GetIntArrayRegion(env, lengths, 0, batch, (jint *)session->lengths);
  for (uint32_t i = 0; i < io->input_count; ++i) {
    jlong at = 0;
    (*env)->GetLongArrayRegion(env, inputs, (jsize)i, 1, &at);
    session->inputs[i].data = (const void *)(intptr_t)at;
  }
  for (uint32_t i = 0; i < io->output_count; ++i) {
    jlong at = 0;
    (*env)->GetLongArrayRegion(env, outputs, (jsize)i, 1, &at);
    session->outputs[i].data = (void *)(intptr_t)at;
  }
  return rnnp_run_io(session->session, io);
}

NATIVE(jstring, lastError)(JNIEnv *env, jclass self, jlong handle) {
  (void)self;
  return (*env)->NewStringUTF(env, rnnp_session_last_error(session_at(handle)->session));
}

/* --- State --- */

NATIVE(jint, reset)(JNIEnv *env, jclass self, jlong handle, jint row) {
  (void)env, (void)self;
  return rnnp_state_reset(session_at(handle)->session, (uint32_t)row);
}

NATIVE(jint, saveState)(JNIEnv *env, jclass self, jlong handle, jint row, jbyteArray state) {
  (void)self;
  jbyte *const bytes = (*env)->GetByteArrayElements(env, state, NULL);
  if (bytes == NULL) return RNNP_E_SMALL_MEMORY;
  const rnnp_status status =
      rnnp_state_save(session_at(handle)->session, (uint32_t)row, bytes, (size_t)(*env)->GetArrayLength(env, state));
  (*env)->ReleaseByteArrayElements(env, state, bytes, 0);
  return status;
}

NATIVE(jint, loadState)(JNIEnv *env, jclass self, jlong handle, jint row, jbyteArray state) {
  (void)self;
  jbyte *const bytes = (*env)->GetByteArrayElements(env, state, NULL);
  if (bytes == NULL) return RNNP_E_SMALL_MEMORY;
  const rnnp_status status =
      rnnp_state_load(session_at(handle)->session, (uint32_t)row, bytes, (size_t)(*env)->GetArrayLength(env, state));
  (*env)->ReleaseByteArrayElements(env, state, bytes, JNI_ABORT);
  return status;
}
