// emulated_gpu.h -- what tests may change and see of the GPU that gpu_emulated.cpp is. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_EMULATOR_EMULATED_GPU_H_
#define RNNPACK_CUDA_EMULATOR_EMULATED_GPU_H_

#include "cuda/gpu.h"

namespace rnnp {
namespace cuda {

struct EmulatedGpu {
  rnnp_cuda_device device = {sizeof(rnnp_cuda_device), 870, 16, 163 * 1024, 4u << 20, 1300, 204800, 1, 1, 0};
  int32_t no_device = 0;            // what gpu_query answers
  uint64_t seed = 1;                // of the next launch's order; each launch adds one
  uint32_t missing_blocks = 0;      // of kernels that meet as a grid
  void *busy_stream = nullptr;      // a stream whose work has not ended
  const void *host_only = nullptr;  // memory that cannot be reached, from here on `host_only_bytes`
  size_t host_only_bytes = 0;
  const void *mapped = nullptr;  // the host's memory that the GPU reaches, alike
  size_t mapped_bytes = 0;
  int32_t current = 0;     // the thread's GPU
  bool capturing = false;  // nothing runs; waits, queries and copies from and to the host are errors, and counted
  uint32_t waits_in_capture = 0;
  uint64_t launches[static_cast<uint32_t>(KernelId::count)] = {}, loads = 0, host_copies = 0;
  bool is_loaded[static_cast<uint32_t>(KernelId::count)] = {};  // a launch of another kernel fails
  int32_t fail_next_launch = 0;
  bool no_clusters = false;  // kernels were compiled without
};

EmulatedGpu &emulated_gpu();

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_EMULATOR_EMULATED_GPU_H_
