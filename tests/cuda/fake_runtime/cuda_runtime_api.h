// cuda_runtime_api.h -- as much of CUDA's runtime as gpu_cudart.cpp calls, on a GPU of which a test says what it is and that writes
// down what it is asked. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CUDA_FAKE_RUNTIME_H_
#define RNNPACK_TESTS_CUDA_FAKE_RUNTIME_H_

#include <stddef.h>

#include <map>
#include <set>
#include <string>
#include <vector>

using cudaStream_t = void *;
using cudaGraph_t = void *;
using cudaGraphExec_t = void *;
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorNotReady = 600,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorStreamCaptureUnsupported = 900
};
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrL2CacheSize,
  cudaDevAttrIntegrated,
  cudaDevAttrCooperativeLaunch,
  cudaDevAttrClockRate,
  cudaDevAttrMemoryClockRate,
  cudaDevAttrGlobalMemoryBusWidth,
  cudaDevAttrPageableMemoryAccess
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize, cudaFuncAttributeNonPortableClusterSizeAllowed };
enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };
enum { cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
enum cudaMemcpyKind { cudaMemcpyDefault };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  int ptxVersion;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer;
};
struct dim3 {
  unsigned x;
  dim3(unsigned n = 1) : x(n) {}  // NOLINT: as CUDA's
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    struct {
      unsigned x, y, z;
    } clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

struct FakeRuntime {
  std::vector<std::string> calls;  // by name, as they came
  int device = 0, sms = 4, optin = 200000, pageable = 0, busy = 0, ptx = 90, clusters = 1, major = 8, most_of_cluster = 16;
  cudaLaunchConfig_t launched = {};  // the last of cudaLaunchKernelExC, with its first attribute
  cudaLaunchAttribute launched_as = {};
  size_t static_shared = 0;
  std::set<const void *> loaded, wide_clusters;  // wide: those that may have more blocks than any GPU has
  std::map<const void *, int> shared_of;         // what a function may have
  std::map<const void *, cudaPointerAttributes> memory;
  cudaStream_t capturing = nullptr;
  cudaError_t capture_ends = cudaSuccess;
  char graph = 0, exec = 0;

  size_t count(const char *name) const {
    size_t n = 0;
    for (const std::string &call : calls) n += call == name;
    return n;
  }
};
inline FakeRuntime &fake_runtime() {
  static FakeRuntime fake;
  return fake;
}
inline cudaError_t fake_call(const char *name) {
  fake_runtime().calls.push_back(name);
  return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int *device) {
  *device = fake_runtime().device;
  return fake_call("cudaGetDevice");
}
inline cudaError_t cudaGetLastError() {
  return fake_call("cudaGetLastError");
}
inline cudaError_t cudaSetDevice(int device) {
  fake_runtime().device = device;
  return fake_call("cudaSetDevice");
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int) {
  const FakeRuntime &f = fake_runtime();
  *value = which == cudaDevAttrMultiProcessorCount            ? f.sms
           : which == cudaDevAttrMaxSharedMemoryPerBlockOptin ? f.optin
           : which == cudaDevAttrPageableMemoryAccess         ? f.pageable
           : which == cudaDevAttrComputeCapabilityMajor       ? f.major
                                                              : 8;
  return fake_call("cudaDeviceGetAttribute");
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *facts, const void *function) {
  fake_runtime().loaded.insert(function);
  facts->sharedSizeBytes = fake_runtime().static_shared;
  facts->ptxVersion = fake_runtime().ptx;
  return fake_call("cudaFuncGetAttributes");
}
inline cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    if (value != 0) fake_runtime().wide_clusters.insert(function);
    return fake_call("cudaFuncSetAttribute");
  }
  fake_runtime().shared_of[function] = value;
  fake_call("cudaFuncSetAttribute");
  return value > fake_runtime().optin ? cudaErrorInvalidValue : cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
  *blocks = 1;
  return fake_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
}
inline cudaError_t fake_launch(const char *name, const void *function, size_t shared) {
  fake_call(name);
  const auto found = fake_runtime().shared_of.find(function);
  const size_t most = found == fake_runtime().shared_of.end() ? 48 * 1024 : static_cast<size_t>(found->second);
  return shared > most ? cudaErrorInvalidValue : cudaSuccess;
}
inline cudaError_t cudaLaunchKernel(const void *function, dim3, dim3, void **, size_t shared, cudaStream_t) {
  return fake_launch("cudaLaunchKernel", function, shared);
}
inline cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const cudaLaunchConfig_t *config) {
  const bool portable = config->attrs[0].val.clusterDim.x <= 8;
  *clusters = portable || fake_runtime().wide_clusters.count(function) != 0 ? fake_runtime().clusters : 0;
  return fake_call("cudaOccupancyMaxActiveClusters");
}
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const cudaLaunchConfig_t *) {
  const int most = fake_runtime().most_of_cluster;
  *blocks = most > 8 && fake_runtime().wide_clusters.count(function) == 0 ? 8 : most;
  return fake_call("cudaOccupancyMaxPotentialClusterSize");
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **) {
  fake_runtime().launched = *config;
  fake_runtime().launched_as = config->attrs[0];
  return fake_launch("cudaLaunchKernelExC", function, config->dynamicSmemBytes);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3, dim3, void **, size_t shared, cudaStream_t) {
  return fake_launch("cudaLaunchCooperativeKernel", function, shared);
}
inline cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t) {
  return fake_call("cudaMemsetAsync");
}
inline cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t) {
  return fake_call("cudaMemcpyAsync");
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return fake_call("cudaStreamSynchronize");
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  const bool captured = fake_runtime().capturing != nullptr && fake_runtime().capturing == stream;
  *status = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return fake_call("cudaStreamIsCapturing");
}
inline cudaError_t cudaStreamQuery(cudaStream_t) {
  fake_call("cudaStreamQuery");
  if (fake_runtime().capturing != nullptr) return cudaErrorStreamCaptureUnsupported;
  return fake_runtime().busy != 0 ? cudaErrorNotReady : cudaSuccess;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p) {
  const auto found = fake_runtime().memory.find(p);
  *attributes =
      found == fake_runtime().memory.end() ? cudaPointerAttributes{cudaMemoryTypeUnregistered, -1, nullptr} : found->second;
  return fake_call("cudaPointerGetAttributes");
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  fake_runtime().capturing = stream;
  return fake_call("cudaStreamBeginCapture");
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  fake_call("cudaStreamEndCapture");
  fake_runtime().capturing = nullptr;
  *graph = fake_runtime().capture_ends == cudaSuccess ? &fake_runtime().graph : nullptr;
  return fake_runtime().capture_ends;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t, unsigned long long) {
  *exec = &fake_runtime().exec;
  return fake_call("cudaGraphInstantiate");
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return fake_call("cudaGraphUpload");
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return fake_call("cudaGraphLaunch");
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return fake_call("cudaGraphDestroy");
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return fake_call("cudaGraphExecDestroy");
}
inline cudaError_t cudaMalloc(void **, size_t) {
  return fake_call("cudaMalloc");
}
inline cudaError_t cudaHostAlloc(void **, size_t, unsigned) {
  return fake_call("cudaHostAlloc");
}
inline cudaError_t cudaFree(void *) {
  return fake_call("cudaFree");
}
inline cudaError_t cudaFreeHost(void *) {
  return fake_call("cudaFreeHost");
}

#endif  // RNNPACK_TESTS_CUDA_FAKE_RUNTIME_H_
