/* compiler.h -- the compiler of rnnpack as a C library: the bytes of a model's file in, a blob out, as `rnnpack compile` makes it.
 *
 *   static int keep(void *user, const char *path, const void *bytes, size_t size) {
 *     (void)path;                                           // "": without the option output the blob has no name
 *     return fwrite(bytes, 1, size, (FILE *)user) != size;  // not 0: stop
 *   }
 *
 *   const char *const options[] = {"target=avx2", "stream=1", "state=h=hn"};
 *   rnnp_compile_status status = rnnp_compile(onnx, onnx_bytes, options, 3, keep, NULL, file);
 *
 * It is a library of its own, librnnpack_compiler, for hosts: it needs the C++ runtime and protobuf, and allocates. Programs that
 * run blobs need rnnpack.h and the device library alone.
 *
 * Rules
 *   options    The long options of `rnnpack compile` without their dashes, "key=value", of a flag "key" alone; those that may be
 *              repeated may be here. `rnnpack compile --help` lists them, with their values and what they do. `model` names the
 *              file: it is read where no bytes are given, and weights in files of their own are looked for in its folder. ONNX or
 *              another kind (docs/FORMATS.md): the content tells.
 *   files      Nothing is written: what the tool writes goes to the sink. Files that options name (calibrate, set, model) are read.
 *   messages   UTF-8 text without a newline at its end, valid during the call.
 *   threads    No globals: calls run at the same time on any number of threads. Callbacks come on the thread of the call. The
 *              option metric runs a program, and while it runs SIGINT and SIGQUIT are ignored in the whole process.
 *   lifetime   Everything that is given stays the caller's, and is not used after the call. Nothing is left to free.
 *   errors     A status, and the reason as a message. No exception leaves the library, and it ends no process. A callback must not
 *              throw through it or jump out of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_COMPILER_H_
#define RNNPACK_COMPILER_H_

#include <rnnpack/rnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pinned values: they never change and are never reused. Those from 1 to 4 are the exit codes of the tool. */
#ifdef __cplusplus
enum rnnp_compile_status : int32_t {
#else
typedef int32_t rnnp_compile_status;
enum {
#endif
  RNNP_COMPILED = 0,
  RNNP_COMPILE_USAGE = 1,      /* an option, its value, or an argument is wrong */
  RNNP_COMPILE_REFUSED = 2,    /* the model is refused; the message names nodes and reasons */
  RNNP_COMPILE_IO = 3,         /* a file could not be read, or memory is exhausted */
  RNNP_COMPILE_UNVERIFIED = 4, /* the blob misses what accuracy-min asks for, or differs from the graph: it is not given out */
  RNNP_COMPILE_STOPPED = 5     /* a callback returned something else than 0 */
};

/* What a message is. */
#ifdef __cplusplus
enum rnnp_compile_message : int32_t {
#else
typedef int32_t rnnp_compile_message;
enum {
#endif
  RNNP_COMPILE_ERROR = 0,   /* why the call fails; once, the last message */
  RNNP_COMPILE_NOTE = 1,    /* something to know about the model */
  RNNP_COMPILE_REPORT = 2,  /* lines: what low precision costs, where it was measured */
  RNNP_COMPILE_SUMMARY = 3, /* one line about what was made: "axes: ...", "made ...", "streams: ...", "next: ..." */
  RNNP_COMPILE_PROGRESS = 4 /* "DONE of ALL", two numbers; with the option progress */
};

/* Takes one file. `path`: as the options name it (output, emit-c, report), "" for a blob without the option output. The blob comes
 * last. `bytes` are valid during the call, at no particular alignment. Returns 0 to go on; else the call ends with
 * RNNP_COMPILE_STOPPED. Nothing is given before all of it is made and checked. */
typedef int (*rnnp_compile_sink)(void *user, const char *path, const void *bytes, size_t size);

/* Takes one message. Returns 0 to go on; of RNNP_COMPILE_ERROR the result is not looked at. */
typedef int (*rnnp_compile_listener)(void *user, rnnp_compile_message kind, const char *text);

/* Compiles `onnx_bytes` bytes of an ONNX file; NULL and 0: the file that the option model names. `options`: option_count texts,
 * NULL where there are none. `listener` may be NULL, `sink` may not. `user` is handed to both. */
RNNP_NODISCARD RNNP_API rnnp_compile_status rnnp_compile(const void *onnx, size_t onnx_bytes, const char *const *options,
                                                         size_t option_count, rnnp_compile_sink sink,
                                                         rnnp_compile_listener listener, void *user);

/* RNNP_HEADER_VERSION of the library, as it was built. */
RNNP_API uint32_t rnnp_compiler_version(void);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_COMPILER_H_ */
