// gpu_program.h -- what the measuring programs of this folder share: calls that must not fail, the time of a launch, and how they
// end where there is no GPU. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BENCH_CUDA_GPU_PROGRAM_H_
#define RNNPACK_BENCH_CUDA_GPU_PROGRAM_H_

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/device_layout.h"

namespace rnnp_bench {

inline void need(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  printf("%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

// The SMs of the first GPU; 0: there is none, and the program has said so and ends with 77.
inline uint32_t sms_of_gpu() {
  int count = 0, sms = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    puts("no GPU: nothing was run");
    return 0;
  }
  need(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  return static_cast<uint32_t>(sms);
}

// cluster: blocks of each; 0: a grid whose blocks meet.
inline double launch_us(const void *kernel, void *args, uint32_t blocks, uint32_t shared_bytes, uint32_t cluster = 0) {
  cudaEvent_t from, to;
  need(cudaEventCreate(&from), "cudaEventCreate");
  need(cudaEventCreate(&to), "cudaEventCreate");
  void *params[] = {args};
  need(cudaEventRecord(from), "cudaEventRecord");
  if (cluster != 0) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    const cudaLaunchConfig_t config = {dim3(blocks), dim3(rnnp::cuda::kThreads), shared_bytes, nullptr, &attribute, 1};
    need(cudaLaunchKernelExC(&config, kernel, params), "launch of clusters");
  } else {
    need(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(rnnp::cuda::kThreads), params, shared_bytes, nullptr),
         "cooperative launch");
  }
  need(cudaEventRecord(to), "cudaEventRecord");
  need(cudaEventSynchronize(to), "cudaEventSynchronize");
  float ms = 0;
  need(cudaEventElapsedTime(&ms, from, to), "cudaEventElapsedTime");
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  return ms * 1e3;
}

}  // namespace rnnp_bench
#endif  // RNNPACK_BENCH_CUDA_GPU_PROGRAM_H_
