// compile_case.h -- rnnpack/compiler.h called once: the blob, or why there is none. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BINDINGS_C_COMPILE_CASE_H_
#define RNNPACK_BINDINGS_C_COMPILE_CASE_H_

#include <rnnpack/compiler.h>

#include <string>
#include <vector>

struct Compiled {
  std::vector<char> blob;
  std::string why;
};

inline int keep_file(void *user, const char *, const void *bytes, size_t size) {
  static_cast<Compiled *>(user)->blob.assign(static_cast<const char *>(bytes), static_cast<const char *>(bytes) + size);
  return 0;
}

inline int keep_error(void *user, rnnp_compile_message kind, const char *text) {
  if (kind == RNNP_COMPILE_ERROR) static_cast<Compiled *>(user)->why = text;
  return 0;
}

inline rnnp_compile_status compile_here(const std::vector<char> &onnx, const char *const *options, size_t count, Compiled *made) {
  return rnnp_compile(onnx.data(), onnx.size(), options, count, keep_file, keep_error, made);
}

#endif  // RNNPACK_BINDINGS_C_COMPILE_CASE_H_
