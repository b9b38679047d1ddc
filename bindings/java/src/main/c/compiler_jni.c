/* compiler_jni.c -- org.rnnpack.Native.compile: librnnpack_compiler is looked up when it is called, so the jar does without it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <jni.h>
#include <stdlib.h>

#include "rnnpack/compiler.h"

typedef rnnp_compile_status (*Compile)(const void *, size_t, const char *const *, size_t, rnnp_compile_sink, rnnp_compile_listener,
                                       void *);

typedef struct {
  JNIEnv *env;
  jobject made;
  jmethodID keep, hear;
} Call;

/* A Java exception ends the call; it is thrown when compile returns. */
static int keep(void *user, const char *path, const void *bytes, size_t size) {
  const Call *call = user;
  JNIEnv *env = call->env;
  jstring name = (*env)->NewStringUTF(env, path);
  jbyteArray content = name == NULL ? NULL : (*env)->NewByteArray(env, (jsize)size);
  if (content != NULL) {
    (*env)->SetByteArrayRegion(env, content, 0, (jsize)size, bytes);
    (*env)->CallVoidMethod(env, call->made, call->keep, name, content);
  }
  (*env)->DeleteLocalRef(env, content);
  (*env)->DeleteLocalRef(env, name);
  return (*env)->ExceptionCheck(env);
}

static int hear(void *user, rnnp_compile_message kind, const char *text) {
  const Call *call = user;
  JNIEnv *env = call->env;
  jstring said = (*env)->NewStringUTF(env, text);
  if (said != NULL) (*env)->CallVoidMethod(env, call->made, call->hear, (jint)kind, said);
  (*env)->DeleteLocalRef(env, said);
  return (*env)->ExceptionCheck(env);
}

static Compile library(JNIEnv *env, jstring name) {
  const char *path = (*env)->GetStringUTFChars(env, name, NULL);
  void *opened = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (path != NULL) (*env)->ReleaseStringUTFChars(env, name, path);
  /* ISO C has no cast from an object to a function. */
  union {
    void *object;
    Compile function;
  } found = {opened == NULL ? NULL : dlsym(opened, "rnnp_compile")};
  return found.function;
}

JNIEXPORT jint JNICALL Java_org_rnnpack_Native_compile(JNIEnv *env, jclass self, jstring name, jbyteArray onnx,
                                                       jobjectArray options, jobject made) {
  const Compile compile = library(env, name);
  const jclass kind = (*env)->GetObjectClass(env, made);
  Call call = {env, made, (*env)->GetMethodID(env, kind, "keep", "(Ljava/lang/String;[B)V"),
               (*env)->GetMethodID(env, kind, "hear", "(ILjava/lang/String;)V")};
  const jsize count = (*env)->GetArrayLength(env, options);
  const char **texts = calloc((size_t)count + 1, sizeof *texts);
  jstring *strings = calloc((size_t)count + 1, sizeof *strings);
  jbyte *bytes = (*env)->GetByteArrayElements(env, onnx, NULL);
  rnnp_compile_status status = -1;
  jsize i;
  (void)self;
  if (compile != NULL && call.keep != NULL && call.hear != NULL && texts != NULL && strings != NULL && bytes != NULL) {
    status = RNNP_COMPILE_IO;
    for (i = 0; i < count; ++i) {
      strings[i] = (*env)->GetObjectArrayElement(env, options, i);
      texts[i] = strings[i] == NULL ? NULL : (*env)->GetStringUTFChars(env, strings[i], NULL);
      if (texts[i] == NULL) break;
    }
    if (i == count) {
      status = compile(bytes, (size_t)(*env)->GetArrayLength(env, onnx), texts, (size_t)count, keep, hear, &call);
    }
    while (i-- > 0) (*env)->ReleaseStringUTFChars(env, strings[i], texts[i]);
  }
  if (bytes != NULL) (*env)->ReleaseByteArrayElements(env, onnx, bytes, JNI_ABORT);
  free(strings);
  free(texts);
  return status;
}
