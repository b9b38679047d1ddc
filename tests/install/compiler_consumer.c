/* compiler_consumer.c MODEL.onnx -- compiles a model with the installed library of rnnpack/compiler.h and looks at the blob.
 * SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/compiler.h>
#include <stdio.h>
#include <string.h>

static int keep(void *user, const char *path, const void *bytes, size_t size) {
  (void)bytes;
  *(size_t *)user = size;
  return path[0] != '\0';
}

static int print(void *user, rnnp_compile_message kind, const char *text) {
  (void)user;
  return kind == RNNP_COMPILE_ERROR && printf("%s\n", text) < 0;
}

int main(int argc, char **argv) {
  char model[4096] = "model=";
  const char *const options[] = {model, "target=generic"};
  size_t size = 0;
  if (argc != 2 || strlen(argv[1]) > 4000 || rnnp_compiler_version() != RNNP_HEADER_VERSION) return 1;
  strcat(model, argv[1]);
  if (rnnp_compile(NULL, 0, options, 2, keep, print, &size) != RNNP_COMPILED) return 1;
  printf("%lu bytes\n", (unsigned long)size);
  return size > 1000 ? 0 : 1;
}
