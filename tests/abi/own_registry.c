/* own_registry.c -- a program that defines rnnp_default_registry, with a kernel that the sample has no use for:
 * a session is refused for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/registry.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECT(name) &rnnp_op_##name,
static const rnnp_op *const ops[] = {RNNP_FOR_EACH_OP(OBJECT)};
static const rnnp_kernel_group *const kernels[] = {&rnnp_kernels_matmul_f32};
const rnnp_registry rnnp_default_registry = {
    sizeof(rnnp_registry), sizeof ops / sizeof ops[0], 1, ops, kernels, &rnnp_check_dataflow, NULL};

int main(int argc, char **argv) {
  void *blob = aligned_alloc(64, 1 << 20);
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  const size_t bytes = file != NULL && blob != NULL ? fread(blob, 1, 1 << 20, file) : 0;
  rnnp_model model;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_status status = rnnp_model_open(&model, blob, bytes, 0);
  if (status == RNNP_OK) status = rnnp_session_memory(&model, NULL, &need);
  printf("%s\n", rnnp_status_string(status));
  return status != RNNP_E_LAYOUT;
}
