/* has_gpu.c -- 0 where a GPU can be used, 77 where not, and says which. SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime_api.h>
#include <rnnpack/cuda.h>
#include <stdio.h>

int main(void) {
  rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
  if (rnnp_cuda_device_query(-1, &device) != RNNP_OK) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver); /* 0: none */
    cudaRuntimeGetVersion(&runtime);
    printf("no GPU: nothing was run (%s; built for CUDA %d.%d)\n",
           driver == 0        ? "no driver"
           : driver < runtime ? "a driver that is too old"
                              : "a driver without one",
           runtime / 1000, runtime % 1000 / 10);
    return 77;
  }
  printf("sm_%u, %u SMs, %u KiB of shared memory a block, cooperative launches: %s\n", device.arch / 10, device.sm_count,
         device.shared_per_block / 1024, device.cooperative ? "yes" : "no");
  return 0;
}
