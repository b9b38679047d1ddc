/* cuda_consumer.c -- a C99 program that uses the installed rnnpack/cuda.h alone: plans and packs for a GPU that need not be there,
 * and asks for this machine's. SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/cuda.h>
#include <stdio.h>
#include <string.h>

static union {
  uint64_t align64[8];
  unsigned char bytes[1 << 20];
} blob, image, again;

static void *aligned(void *p) {
  return (void *)(((uintptr_t)p + 63u) & ~(uintptr_t)63u);
}

int main(int argc, char **argv) {
  const size_t room = sizeof blob.bytes - 64;
  rnnp_cuda_device orin = RNNP_CUDA_DEVICE_INIT, here = RNNP_CUDA_DEVICE_INIT;
  rnnp_cuda_options options = RNNP_CUDA_OPTIONS_INIT;
  rnnp_cuda_memory need = RNNP_CUDA_MEMORY_INIT;
  rnnp_cuda_layer_info layer = RNNP_CUDA_LAYER_INFO_INIT;
  rnnp_model model;
  rnnp_status found;
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  size_t size;
  if (file == NULL) return 2;
  size = fread(aligned(blob.bytes), 1, room, file);
  fclose(file);
  if (rnnp_model_open(&model, aligned(blob.bytes), size, RNNP_OPEN_CHECK_WEIGHTS) != RNNP_OK) return 3;
  orin.arch = 870;
  orin.sm_count = 16;
  orin.shared_per_block = 163 * 1024;
  orin.cooperative = 1;
  options.device = &orin;
  if (rnnp_cuda_session_memory(&model, &options, &need) != RNNP_OK || need.image_bytes > room) return 4;
  if (rnnp_cuda_pack(&model, &options, aligned(image.bytes), room) != RNNP_OK) return 5;
  if (rnnp_cuda_pack(&model, &options, aligned(again.bytes), room) != RNNP_OK) return 6;
  if (memcmp(aligned(image.bytes), aligned(again.bytes), need.image_bytes) != 0) return 7;
  if (rnnp_cuda_plan(&model, &options, 0, &layer) != RNNP_OK) return 8;
  found = rnnp_cuda_device_query(-1, &here);
  printf("%s; a GPU here: %s\n", layer.reason, found == RNNP_OK ? "yes" : "no");
  return found == RNNP_OK || found == RNNP_E_DEVICE ? 0 : 9;
}
