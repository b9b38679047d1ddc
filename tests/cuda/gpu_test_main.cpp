// gpu_test_main.cpp -- the tests of a build for GPUs: 77 where there is none, so that who runs them sees them skipped.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "rnnpack/cuda.h"

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
  if (rnnp_cuda_device_query(-1, &device) != RNNP_OK && !testing::GTEST_FLAG(list_tests)) {
    std::puts("no GPU: nothing was run");
    return 77;
  }
  return RUN_ALL_TESTS();
}
