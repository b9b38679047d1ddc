// random_models.h -- the models of tests/onnx_fuzz for tests in C++: onnx_fuzz/write_models.py writes them where the tests are
// built. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_RANDOM_MODELS_H_
#define RNNPACK_TESTS_COMPILER_RANDOM_MODELS_H_

#include <onnx/onnx_pb.h>

#include <random>
#include <vector>

namespace rnnp::testing_support {

constexpr uint32_t kRandomModels = RNNPACK_RANDOM_MODELS;
// `number` is below that.
onnx::ModelProto random_onnx(uint32_t number);

// Numbers below others, the same on every standard library.
class Chance {
 public:
  explicit Chance(uint32_t seed) : random_(seed) {}
  int64_t below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  bool coin() { return below(2) != 0; }
  template <typename T>
  const T &one_of(const std::vector<T> &from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

 private:
  std::mt19937 random_;
};

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_RANDOM_MODELS_H_
