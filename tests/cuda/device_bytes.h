// device_bytes.h -- memory for tests: the GPU's own, and such as both CPU and GPU read. Emulated, both are the host's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CUDA_DEVICE_BYTES_H_
#define RNNPACK_TESTS_CUDA_DEVICE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#ifndef RNNPACK_CUDA_EMULATED
#include <cuda_runtime_api.h>

#include <stdexcept>
#endif

namespace rnnp_test {

// 256-byte aligned; poisoned where the CPU can write it.
class DeviceBytes {
 public:
  explicit DeviceBytes(size_t bytes = 0, bool seen_by_cpu = false) : size_(bytes) {
#ifdef RNNPACK_CUDA_EMULATED
    (void)seen_by_cpu;
    storage_.assign(bytes + 256, 0xA5);
    const auto at = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (256 - at % 256) % 256;
#else
    void *p = nullptr;
    if ((seen_by_cpu ? cudaMallocManaged(&p, bytes + 1) : cudaMalloc(&p, bytes + 1)) != cudaSuccess)
      throw std::runtime_error("no device memory");
    cudaMemset(p, 0xA5, bytes);
    data_ = static_cast<uint8_t *>(p);
#endif
  }
#ifndef RNNPACK_CUDA_EMULATED
  ~DeviceBytes() {
    cudaFree(data_);
  }
#endif
  DeviceBytes(const DeviceBytes &) = delete;
  DeviceBytes &operator=(const DeviceBytes &) = delete;

  uint8_t *data() {
    return data_;
  }
  size_t size() const {
    return size_;
  }

 private:
  std::vector<uint8_t> storage_;
  uint8_t *data_ = nullptr;
  size_t size_;
};

// Elements of x or y, read and written by both.
template <class T>
class SharedArray {
 public:
  SharedArray(size_t count, T fill) : bytes_(count * sizeof(T), true), count_(count) {
    for (size_t i = 0; i < count; ++i) data()[i] = fill;
  }
  explicit SharedArray(const std::vector<T> &v) : bytes_(v.size() * sizeof(T), true), count_(v.size()) {
    if (!v.empty()) std::memcpy(data(), v.data(), v.size() * sizeof(T));
  }
  T *data() { return static_cast<T *>(static_cast<void *>(bytes_.data())); }
  std::vector<T> vector() { return std::vector<T>(data(), data() + count_); }

 private:
  DeviceBytes bytes_;
  size_t count_;
};

// A stream that is not the default one.
class TestStream {
 public:
#ifdef RNNPACK_CUDA_EMULATED
  void *get() const {
    return const_cast<char *>(&place_);
  }

 private:
  char place_ = 0;
#else
  TestStream() {
    if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess) throw std::runtime_error("no stream");
  }
  ~TestStream() {
    cudaStreamDestroy(stream_);
  }
  TestStream(const TestStream &) = delete;
  TestStream &operator=(const TestStream &) = delete;
  void *get() const {
    return stream_;
  }

 private:
  cudaStream_t stream_ = nullptr;
#endif
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_CUDA_DEVICE_BYTES_H_
