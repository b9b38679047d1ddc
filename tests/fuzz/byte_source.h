// byte_source.h -- choices out of a fuzzer's bytes; behind their end, out of a generator that the bytes have seeded, so that short
// inputs make long walks too. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_BYTE_SOURCE_H_
#define RNNPACK_TESTS_FUZZ_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace rnnp_fuzz {

class ByteSource {
 public:
  ByteSource(const uint8_t *data, size_t size) : at_(data), end_(data + size) {
    for (size_t i = 0; i < size; ++i) seed_ = (seed_ ^ data[i]) * 0x100000001b3u;
  }
  explicit ByteSource(uint64_t seed) : seed_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint8_t byte() {
    if (at_ != end_) return *at_++;
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint8_t>(seed_ >> 56);
  }
  uint32_t word() {
    uint32_t v = 0;
    for (int i = 0; i < 4; ++i) v = v << 8 | byte();
    return v;
  }
  // 0 .. n - 1, n > 0.
  uint32_t below(uint32_t n) { return n <= 256 ? byte() % n : word() % n; }
  uint32_t range(uint32_t low, uint32_t high) { return low + below(high - low + 1); }
  // True once in n.
  bool once_in(uint32_t n) { return below(n) == n - 1; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<uint32_t>(list.size()))];
  }
  float real() { return static_cast<float>(static_cast<int8_t>(byte())) / 64.0f; }

 private:
  const uint8_t *at_ = nullptr, *end_ = nullptr;
  uint64_t seed_ = 0xcbf29ce484222325u;
};

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_BYTE_SOURCE_H_
