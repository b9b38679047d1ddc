// walk.h -- one network run along a random way through the API: pieces of any size, rows of several sessions, threads, chunks,
// strides, saved and loaded states. Every number must have the bits of the plain run. Throws Wrong where it has not.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_ONNX_FUZZ_WALK_H_
#define RNNPACK_TESTS_ONNX_FUZZ_WALK_H_

#include <random>

#include "network.h"

namespace rnnp::onnx_fuzz {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  size_t below(size_t count) { return count < 2 ? 0 : engine_() % count; }
  bool one_in(size_t count) { return below(count) == 0; }
  template <typename T>
  void shuffle(std::vector<T> *what) {
    for (size_t i = what->size(); i > 1; --i) std::swap((*what)[i - 1], (*what)[below(i)]);
  }

 private:
  std::mt19937 engine_;
};

// `expected`: the rows of each output of the plain run with these lengths (empty: none). `serial`: on one thread.
void walk(const Network &network, const std::vector<Words> &expected, const std::vector<int32_t> &lengths, uint32_t seed,
          bool serial = false);

}  // namespace rnnp::onnx_fuzz
#endif  // RNNPACK_TESTS_ONNX_FUZZ_WALK_H_
