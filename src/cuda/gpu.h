// gpu.h -- the one seam between the library and a GPU: facts, copies, launches, waiting. Two implementations: gpu_cudart.cpp on the
// CUDA runtime, gpu_emulated.cpp on the emulator, whose device memory is the host's.
// All functions give a cudaError_t as a number, 0 for success. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_GPU_H_
#define RNNPACK_CUDA_GPU_H_

#include "cuda/kernel_table.h"
#include "rnnpack/cuda.h"

namespace rnnp {
namespace cuda {

constexpr int32_t kGridDoesNotFit = 720;     // cudaErrorCooperativeLaunchTooLarge
constexpr int32_t kNoKernelForDevice = 209;  // cudaErrorNoKernelImageForDevice
constexpr int32_t kInvalidDevice = 101;      // cudaErrorInvalidDevice

struct GpuLaunch {
  KernelId kernel;
  uint32_t blocks, shared_bytes;  // kThreads threads each
  const void *args;
  uint32_t cluster = 0;  // blocks of each cluster, of a kernel of clusters; they wait for none of the others
};

// index -1: the thread's current GPU.
int32_t gpu_query(int32_t index, rnnp_cuda_device *device);
// Which GPU is the thread's current one.
int32_t gpu_current(int32_t *index);
// What must precede the first such launch on a GPU, and may happen at any time before: loads the kernel, allows it all the shared
// memory that a block may have (one value for all sessions: launches never change it), and looks whether the grid fits.
int32_t gpu_load(const GpuLaunch &launch);
// kNoKernelForDevice: a kernel of clusters that was compiled for GPUs that have none.
// Enqueued; kGridDoesNotFit: the blocks of a kernel that meets as a grid or a cluster would not all run at the same time.
int32_t gpu_launch(const GpuLaunch &launch, void *stream);
int32_t gpu_zero(void *to, size_t bytes, void *stream);
int32_t gpu_copy(void *to, const void *from, size_t bytes, void *stream);  // within the device
int32_t gpu_upload(void *to, const void *host, size_t bytes, void *stream);
int32_t gpu_wait(void *stream);
// Whether work enqueued there has not ended yet. Not while any stream of the thread is captured: it would invalidate the capture.
bool gpu_is_busy(void *stream);
bool gpu_is_capturing(void *stream);
// All that is enqueued between the two goes into *graph and does not run; graph nullptr: it goes away. Not on the default stream.
int32_t gpu_begin_capture(void *stream);
int32_t gpu_end_capture(void *stream, void **graph);
int32_t gpu_run_graph(void *graph, void *stream);
void gpu_free_graph(void *graph);
// kind: RNNP_CUDA_DEVICE_MEMORY or _MAPPED_MEMORY.
int32_t gpu_alloc(uint32_t kind, size_t bytes, void **memory);
void gpu_free(uint32_t kind, void *memory);
// Host memory that the GPU reaches at the same address.
bool gpu_is_mapped(const void *p);
// Memory that the GPU is known not to reach.
bool gpu_cannot_reach(const void *p);
// Memory of the current GPU, not the host's or managed memory.
bool gpu_owns(const void *p);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_GPU_H_
