// gpu_emulated.cpp -- Contract: gpu.h. A GPU of a few SMs whose memory is the host's and whose streams are done at once.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "cuda/emulator/emulated_gpu.h"
#include "cuda/emulator/emulator.h"

namespace rnnp {
namespace cuda {
namespace {

// cudaError_t
constexpr int32_t kNoDevice = 100, kInvalidValue = 1, kOutOfMemory = 2, kInvalidFunction = 98, kLaunchFailure = 719,
                  kCaptureUnsupported = 900;

using Graph = std::vector<std::function<int32_t()>>;
Graph &recorded() {
  static Graph all;
  return all;
}

// Does it; during a capture it is a node of the graph.
int32_t enqueue(std::function<int32_t()> work) {
  if (!emulated_gpu().capturing) return work();
  recorded().push_back(std::move(work));
  return 0;
}

int32_t run_launch(const GpuLaunch &launch) {
  EmulatedGpu &gpu = emulated_gpu();
  const KernelFacts &k = kKernels[static_cast<uint32_t>(launch.kernel)];
  const uint32_t missing = k.sync == simt::Sync::kGrid ? gpu.missing_blocks : 0;
  simt::Launch l = {launch.blocks, kThreads, launch.shared_bytes, gpu.seed++, k.sync, missing};
  l.cluster = launch.cluster;
  ++gpu.launches[static_cast<uint32_t>(launch.kernel)];
  return simt::run_grid(l, k.call, launch.args) ? 0 : kLaunchFailure;
}

bool fits(const GpuLaunch &launch) {
  const simt::Sync sync = kKernels[static_cast<uint32_t>(launch.kernel)].sync;
  const uint32_t together = sync == simt::Sync::kGrid ? launch.blocks : sync == simt::Sync::kCluster ? launch.cluster : 0;
  return together <= emulated_gpu().device.sm_count;
}

bool is_within(const void *p, const void *from, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(p), first = reinterpret_cast<uintptr_t>(from);
  return from != nullptr && at >= first && at - first < bytes;
}

int32_t refuse_in_capture() {
  ++emulated_gpu().waits_in_capture;
  return kCaptureUnsupported;
}

}  // namespace

EmulatedGpu &emulated_gpu() {
  static EmulatedGpu gpu;
  return gpu;
}

int32_t gpu_query(int32_t index, rnnp_cuda_device *device) {
  if (emulated_gpu().no_device != 0 || index > 0) return kNoDevice;
  *device = emulated_gpu().device;
  return 0;
}

int32_t gpu_current(int32_t *index) {
  *index = emulated_gpu().current;
  return 0;
}

int32_t gpu_load(const GpuLaunch &launch) {
  EmulatedGpu &gpu = emulated_gpu();
  const uint32_t id = static_cast<uint32_t>(launch.kernel);
  gpu.is_loaded[id] = true;
  ++gpu.loads;
  if (kKernels[id].sync == simt::Sync::kCluster && gpu.no_clusters) return kNoKernelForDevice;
  return fits(launch) ? 0 : kGridDoesNotFit;
}

int32_t gpu_launch(const GpuLaunch &launch, void *) {
  EmulatedGpu &gpu = emulated_gpu();
  const KernelFacts &k = kKernels[static_cast<uint32_t>(launch.kernel)];
  if (gpu.fail_next_launch != 0) {
    const int32_t error = gpu.fail_next_launch;
    gpu.fail_next_launch = 0;
    return error;
  }
  if (!gpu.is_loaded[static_cast<uint32_t>(launch.kernel)]) return kInvalidFunction;
  if (launch.blocks == 0 || launch.shared_bytes > gpu.device.shared_per_block) return kInvalidValue;
  if (!fits(launch)) return kGridDoesNotFit;
  const auto *bytes = static_cast<const uint8_t *>(launch.args);
  std::vector<uint64_t> args((k.arg_bytes + 7) / 8);  // as the device has them: a copy
  std::memcpy(args.data(), bytes, k.arg_bytes);
  return enqueue([launch, args] {
    GpuLaunch again = launch;
    again.args = args.data();
    return run_launch(again);
  });
}

int32_t gpu_zero(void *to, size_t bytes, void *) {
  return enqueue([=] { return std::memset(to, 0, bytes), 0; });
}
int32_t gpu_copy(void *to, const void *from, size_t bytes, void *) {
  return enqueue([=] { return std::memmove(to, from, bytes), 0; });
}
int32_t gpu_upload(void *to, const void *host, size_t bytes, void *) {
  if (emulated_gpu().capturing) return refuse_in_capture();
  ++emulated_gpu().host_copies;
  std::memcpy(to, host, bytes);
  return 0;
}
int32_t gpu_wait(void *) {
  return emulated_gpu().capturing ? refuse_in_capture() : 0;
}
bool gpu_is_busy(void *stream) {
  if (emulated_gpu().capturing) return refuse_in_capture() == 0;
  return emulated_gpu().busy_stream != nullptr && emulated_gpu().busy_stream == stream;
}
bool gpu_is_capturing(void *) {
  return emulated_gpu().capturing;
}
int32_t gpu_begin_capture(void *stream) {
  if (stream == nullptr || emulated_gpu().capturing) return kCaptureUnsupported;
  recorded().clear();
  emulated_gpu().capturing = true;
  return 0;
}
int32_t gpu_end_capture(void *, void **graph) {
  if (!emulated_gpu().capturing) return kCaptureUnsupported;
  emulated_gpu().capturing = false;
  if (graph != nullptr) *graph = new Graph(recorded());
  recorded().clear();
  return 0;
}
int32_t gpu_run_graph(void *graph, void *) {
  for (const auto &work : *static_cast<Graph *>(graph)) {
    const int32_t error = work();
    if (error != 0) return error;
  }
  return 0;
}
void gpu_free_graph(void *graph) {
  delete static_cast<Graph *>(graph);
}

int32_t gpu_alloc(uint32_t, size_t bytes, void **memory) {
  constexpr size_t kAlign = 256;
  if (emulated_gpu().no_device != 0) return kNoDevice;
  *memory = std::aligned_alloc(kAlign, (bytes / kAlign + 1) * kAlign);
  return *memory != nullptr ? 0 : kOutOfMemory;
}
void gpu_free(uint32_t, void *memory) {
  std::free(memory);
}
bool gpu_is_mapped(const void *p) {
  return !gpu_cannot_reach(p);
}
bool gpu_cannot_reach(const void *p) {
  const EmulatedGpu &gpu = emulated_gpu();
  return is_within(p, gpu.host_only, gpu.host_only_bytes);
}
bool gpu_owns(const void *p) {
  const EmulatedGpu &gpu = emulated_gpu();
  return !gpu_cannot_reach(p) && !is_within(p, gpu.mapped, gpu.mapped_bytes);
}

}  // namespace cuda
}  // namespace rnnp
