/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200112L
#include <cuda_runtime_api.h>
#include <rnnpack/cuda.h>
#include <stdio.h>
#include <stdlib.h>

static void need(int good, const char *what) {
  if (!good) fprintf(stderr, "%s failed\n", what), exit(1);
}

int main(int argc, char **argv) {
  FILE *file = fopen(argc > 1 ? argv[1] : "model.rnnp", "rb");
  void *blob = NULL, *host, *image, *weights, *work, *findings, *x, *y;
  need(file && posix_memalign(&blob, 64, 1 << 24) == 0, "open");
  size_t bytes = fread(blob, 1, 1 << 24, file);
  rnnp_model model;
  need(rnnp_model_open(&model, blob, bytes, 0) == RNNP_OK, "rnnp_model_open");

  rnnp_cuda_options options = RNNP_CUDA_OPTIONS_INIT;
  options.weights = RNNP_CUDA_F16; /* f32 unless asked */
  rnnp_cuda_memory memory = RNNP_CUDA_MEMORY_INIT;
  rnnp_status status = rnnp_cuda_session_memory(&model, &options, &memory);
  need(status == RNNP_OK, rnnp_status_string(status));
  need(posix_memalign(&host, memory.host_align, memory.host_bytes) == 0, "host memory");
  need(posix_memalign(&image, 64, memory.image_bytes) == 0, "image");
  need(cudaMalloc(&weights, memory.weight_bytes) == 0, "weights");
  need(cudaMalloc(&work, memory.work_bytes) == 0, "work");
  need(cudaHostAlloc(&findings, RNNP_CUDA_FINDINGS_BYTES, cudaHostAllocMapped) == 0, "findings");
  need(rnnp_cuda_pack(&model, &options, image, memory.image_bytes) == RNNP_OK, "rnnp_cuda_pack");
  rnnp_cuda_session *session;
  rnnp_cuda_buffers buffers = {sizeof buffers, 0, host, memory.host_bytes, image, weights, work, findings};
  status = rnnp_cuda_session_init(&session, &model, &options, &buffers, NULL);
  need(status == RNNP_OK && rnnp_cuda_wait(session, NULL) == RNNP_OK, "rnnp_cuda_session_init");
  free(image);

  rnnp_tensor_info in = RNNP_TENSOR_INFO_INIT, out = RNNP_TENSOR_INFO_INIT;
  need(rnnp_model_get_input(&model, 0, &in) == RNNP_OK, "rnnp_model_get_input");
  need(rnnp_model_get_output(&model, 0, &out) == RNNP_OK, "rnnp_model_get_output");
  /* A Jetson's CPU and GPU share one memory. */
  need(cudaHostAlloc(&x, 100 * in.row_elems * sizeof(float), cudaHostAllocMapped) == 0, "x");
  need(cudaHostAlloc(&y, 100 * out.row_elems * sizeof(float), cudaHostAllocMapped) == 0, "y");
  for (size_t i = 0; i < 100 * in.row_elems; ++i) ((float *)x)[i] = 0.01f * (float)(i % 100);
  need(rnnp_cuda_run(session, 100, x, y, NULL) == RNNP_OK, "rnnp_cuda_run"); /* enqueued */
  status = rnnp_cuda_wait(session, NULL);                                    /* done */
  need(status == RNNP_OK, rnnp_status_string(status));
  printf("%g\n", (double)((float *)y)[100 * out.row_elems - 1]);
  cudaFreeHost(x), cudaFreeHost(y), cudaFreeHost(findings), cudaFree(weights), cudaFree(work);
  free(host), free(blob), fclose(file);
  return 0;
}
