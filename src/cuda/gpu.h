// gpu.h -- the one seam between the library and a GPU: facts, copies, launches, waiting. Two implementations: gpu_cudart.cpp on the
// CUDA runtime, gpu_emulated.cpp on the emulator, whose device memory is the host's.
// All functions give a cudaError_t as a number, 0 for success. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_GPU_H_
#define RNNPACK_CUDA_GPU_H_

#include "cuda/kernel_table.h"
#include "rnnpack/cuda.h"

namespace rnnp {
namespace cuda {

constexpr int32_t kGridDoesNotFit = 720;  // cudaErrorCooperativeLaunchTooLarge

struct GpuLaunch {
  KernelId kernel;
  uint32_t blocks, shared_bytes;  // kThreads threads each
  const void *args;
};

// index -1: the thread's current GPU.
int32_t gpu_query(int32_t index, rnnp_cuda_device *device);
// Enqueued; kGridDoesNotFit: the blocks of a kernel that meets as a grid would not all run at the same time.
int32_t gpu_launch(const GpuLaunch &launch, void *stream);
int32_t gpu_zero(void *to, size_t bytes, void *stream);
int32_t gpu_copy(void *to, const void *from, size_t bytes, void *stream);  // within the device
int32_t gpu_upload(void *to, const void *host, size_t bytes, void *stream);
int32_t gpu_wait(void *stream);
// Whether work enqueued there has not ended yet; no while the stream is captured.
bool gpu_is_busy(void *stream);
bool gpu_is_capturing(void *stream);
// Memory that the GPU is known not to reach.
bool gpu_cannot_reach(const void *p);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_GPU_H_
