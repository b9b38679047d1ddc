// cuda_api_fixture.h -- an emulated GPU that is new for every test, and a layer to run on it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CUDA_CUDA_API_FIXTURE_H_
#define RNNPACK_TESTS_CUDA_CUDA_API_FIXTURE_H_

#include <gtest/gtest.h>

#include "cuda/cuda_runner.h"
#include "cuda/emulator/emulated_gpu.h"

namespace rnnp_test {

inline std::vector<uint8_t> lstm_blob(uint32_t input = 5, uint32_t hidden = 40, bool reverse = false) {
  BlobBuilder b(3, 8);
  RecurrentOptions o;
  o.hidden = hidden;
  o.reverse = reverse;
  o.initial_state = true;
  b.add_output(b.add_recurrent(b.add_input(input), input, o));
  return b.build();
}

class CudaApi : public testing::Test {
 protected:
  void SetUp() override { rnnp::cuda::emulated_gpu() = rnnp::cuda::EmulatedGpu(); }
  void TearDown() override { rnnp::cuda::emulated_gpu() = rnnp::cuda::EmulatedGpu(); }
  static CudaOptions resident(uint32_t batch = 1) {
    CudaOptions o;
    o.batch = batch;
    o.weights = RNNP_CUDA_F16;
    o.kernels = RNNP_CUDA_RESIDENT;
    o.spins = 12000;
    return o;
  }
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_CUDA_CUDA_API_FIXTURE_H_
