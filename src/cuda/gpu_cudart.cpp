// gpu_cudart.cpp -- Contract: gpu.h, on the CUDA runtime (12.6 or later). SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "cuda/gpu.h"

namespace rnnp {
namespace cuda {
namespace {

cudaStream_t stream_of(void *stream) {
  return static_cast<cudaStream_t>(stream);
}

int32_t attribute(cudaDeviceAttr which, int device, uint32_t *to, cudaError_t *error) {
  int value = 0;
  if (*error == cudaSuccess) *error = cudaDeviceGetAttribute(&value, which, device);
  *to = static_cast<uint32_t>(value);
  return *error;
}

// Blocks that the GPU can run at the same time as its context is now: MPS, MIG and green contexts make them fewer.
cudaError_t check_grid(const GpuLaunch &launch, const void *function) {
  int device = 0, sms = 0, per_sm = 0;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (e == cudaSuccess) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, function, kThreads, launch.shared_bytes);
  if (e != cudaSuccess) return e;
  return static_cast<uint32_t>(sms * per_sm) < launch.blocks ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

// A grid of clusters.
struct ClusterLaunch {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};

  ClusterLaunch(const GpuLaunch &launch, cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = launch.cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(launch.blocks);
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch &) = delete;
  ClusterLaunch &operator=(const ClusterLaunch &) = delete;
};

// More than 8 blocks are not every GPU's.
cudaError_t check_cluster(const GpuLaunch &launch, const void *function, const cudaFuncAttributes &facts) {
  if (facts.ptxVersion < static_cast<int>(kClusterArch / 10)) return cudaErrorNoKernelImageForDevice;
  const ClusterLaunch cluster(launch, nullptr);
  int most = 0;
  cudaError_t e = cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (e == cudaSuccess) e = cudaOccupancyMaxActiveClusters(&most, function, &cluster.config);
  return e == cudaSuccess && most < 1 ? cudaErrorCooperativeLaunchTooLarge : e;
}

// What our clusters may be on this GPU as it is now. That this program has no kernels for any is no error.
uint32_t query_clusters(int device) {
  const void *function = kClusterKernel.function;
  int before = 0, most = 0;
  cudaFuncAttributes facts = {};
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return 0;
  const ClusterLaunch cluster({KernelId::count, kMostClusterBlocks, 0, nullptr, kMostClusterBlocks}, nullptr);
  cudaLaunchConfig_t config = cluster.config;
  config.numAttrs = 0;  // of any size
  const bool found = cudaFuncGetAttributes(&facts, function) == cudaSuccess &&
                     facts.ptxVersion >= static_cast<int>(kClusterArch / 10) &&
                     cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
                     cudaOccupancyMaxPotentialClusterSize(&most, function, &config) == cudaSuccess;
  cudaGetLastError();
  cudaSetDevice(before);
  return !found || most < 2                                 ? 0
         : static_cast<uint32_t>(most) < kMostClusterBlocks ? static_cast<uint32_t>(most)
                                                            : kMostClusterBlocks;
}

int current_device() {
  int device = -1;
  return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

}  // namespace

int32_t gpu_query(int32_t index, rnnp_cuda_device *device) {
  int i = index;
  cudaError_t e = index < 0 ? cudaGetDevice(&i) : cudaSuccess;
  uint32_t major = 0, minor = 0, khz = 0, memory_khz = 0, bus_bits = 0;
  attribute(cudaDevAttrComputeCapabilityMajor, i, &major, &e);
  attribute(cudaDevAttrComputeCapabilityMinor, i, &minor, &e);
  attribute(cudaDevAttrMultiProcessorCount, i, &device->sm_count, &e);
  attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, i, &device->shared_per_block, &e);
  attribute(cudaDevAttrL2CacheSize, i, &device->l2_bytes, &e);
  attribute(cudaDevAttrIntegrated, i, &device->integrated, &e);
  attribute(cudaDevAttrCooperativeLaunch, i, &device->cooperative, &e);
  attribute(cudaDevAttrClockRate, i, &khz, &e);
  attribute(cudaDevAttrMemoryClockRate, i, &memory_khz, &e);
  attribute(cudaDevAttrGlobalMemoryBusWidth, i, &bus_bits, &e);
  device->arch = major * 100 + minor * 10;
  device->clock_mhz = khz / 1000;
  device->memory_mb_per_s = static_cast<uint32_t>(uint64_t{2} * memory_khz * bus_bits / 8 / 1000);
  device->cluster_blocks = e == cudaSuccess && device->arch >= kClusterArch ? query_clusters(i) : 0;
  return e;
}

int32_t gpu_current(int32_t *index) {
  int device = 0;
  const cudaError_t e = cudaGetDevice(&device);
  *index = device;
  return e;
}

int32_t gpu_load(const GpuLaunch &launch) {
  const KernelFacts &k = kKernels[static_cast<uint32_t>(launch.kernel)];
  cudaFuncAttributes facts = {};
  cudaError_t e = cudaFuncGetAttributes(&facts, k.function);  // loads it where loading is lazy
  if (e != cudaSuccess || is_plain(k)) return e;
  int most = 0;
  e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_device());
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(k.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             most - static_cast<int>(facts.sharedSizeBytes));
  if (e == cudaSuccess && k.sync == simt::Sync::kCluster) return check_cluster(launch, k.function, facts);
  return e == cudaSuccess && k.sync == simt::Sync::kGrid ? check_grid(launch, k.function) : e;
}

int32_t gpu_launch(const GpuLaunch &launch, void *stream) {
  const KernelFacts &k = kKernels[static_cast<uint32_t>(launch.kernel)];
  void *params[] = {const_cast<void *>(launch.args)};
  if (k.sync == simt::Sync::kCluster) {
    const ClusterLaunch cluster(launch, stream_of(stream));
    return cudaLaunchKernelExC(&cluster.config, k.function, params);
  }
  const dim3 grid(launch.blocks), block(kThreads);
  if (k.sync != simt::Sync::kGrid) return cudaLaunchKernel(k.function, grid, block, params, launch.shared_bytes, stream_of(stream));
  return cudaLaunchCooperativeKernel(k.function, grid, block, params, launch.shared_bytes, stream_of(stream));
}

int32_t gpu_zero(void *to, size_t bytes, void *stream) {
  return cudaMemsetAsync(to, 0, bytes, stream_of(stream));
}
int32_t gpu_copy(void *to, const void *from, size_t bytes, void *stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream));
}
int32_t gpu_upload(void *to, const void *host, size_t bytes, void *stream) {
  return cudaMemcpyAsync(to, host, bytes, cudaMemcpyDefault, stream_of(stream));
}
int32_t gpu_wait(void *stream) {
  return cudaStreamSynchronize(stream_of(stream));
}
bool gpu_is_capturing(void *stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream_of(stream), &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}
bool gpu_is_busy(void *stream) {
  return cudaStreamQuery(stream_of(stream)) == cudaErrorNotReady;
}

int32_t gpu_begin_capture(void *stream) {
  return cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal);
}
int32_t gpu_end_capture(void *stream, void **graph) {
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaError_t e = cudaStreamEndCapture(stream_of(stream), &captured);
  if (e == cudaSuccess && graph != nullptr) e = cudaGraphInstantiate(&exec, captured, 0);
  if (captured != nullptr) cudaGraphDestroy(captured);
  if (e == cudaSuccess && graph != nullptr) {
    *graph = exec;
    e = cudaGraphUpload(exec, stream_of(stream));  // the first run pays nothing
  }
  return e;
}
int32_t gpu_run_graph(void *graph, void *stream) {
  return cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(stream));
}
void gpu_free_graph(void *graph) {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

int32_t gpu_alloc(uint32_t kind, size_t bytes, void **memory) {
  return kind == RNNP_CUDA_MAPPED_MEMORY ? cudaHostAlloc(memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable)
                                         : cudaMalloc(memory, bytes);
}
void gpu_free(uint32_t kind, void *memory) {
  kind == RNNP_CUDA_MAPPED_MEMORY ? cudaFreeHost(memory) : cudaFree(memory);
}
bool gpu_is_mapped(const void *p) {
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) return false;
  return attributes.type == cudaMemoryTypeHost && attributes.devicePointer == p;
}
bool gpu_cannot_reach(const void *p) {
  cudaPointerAttributes attributes = {};
  int pageable = 0;
  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess || attributes.type != cudaMemoryTypeUnregistered) return false;
  return cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, current_device()) == cudaSuccess && pageable == 0;
}
bool gpu_owns(const void *p) {
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) return false;
  return attributes.type == cudaMemoryTypeDevice && attributes.device == current_device();
}

}  // namespace cuda
}  // namespace rnnp
