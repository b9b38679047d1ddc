// cudart_test.cpp -- what gpu_cudart.cpp asks of CUDA's runtime, and when: on a runtime that writes it down (fake_runtime).
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cuda/gpu.h"
#include "cuda_runtime_api.h"

namespace rnnp::cuda {

namespace {
const char places[4] = {};
}
// Enough of a table: a kernel of each sort.
const KernelFacts kKernels[] = {{"grid", simt::Sync::kGrid, 8, places},
                                {"block", simt::Sync::kBlock, 8, places + 1},
                                {"plain", simt::Sync::kNobody, 8, places + 2},
                                {"cluster", simt::Sync::kCluster, 8, places + 3}};
const KernelFacts &kClusterKernel = kKernels[3];

namespace {

constexpr KernelId kGrid = KernelId(0), kBlock = KernelId(1), kPlain = KernelId(2), kCluster = KernelId(3);

class Cudart : public testing::Test {
 protected:
  void SetUp() override { fake_runtime() = FakeRuntime(); }
  FakeRuntime &fake = fake_runtime();
};

// One value for all sessions and threads, not one of each launch: no launch can take from another what that was given.
TEST_F(Cudart, AKernelMayHaveAllSharedMemoryFromItsLoadingOn) {
  fake.static_shared = 16;
  for (const KernelId kernel : {kGrid, kBlock, kCluster}) {
    ASSERT_EQ(gpu_load({kernel, 4, 1000, nullptr, 4}), 0);
    EXPECT_EQ(fake.shared_of[kKernels[static_cast<uint32_t>(kernel)].function], fake.optin - 16);
  }
  fake.calls.clear();
  for (const uint32_t shared : {180000u, 60000u, 180000u}) {
    EXPECT_EQ(gpu_launch({kGrid, 4, shared, nullptr}, nullptr), 0);
    EXPECT_EQ(gpu_launch({kBlock, 4, shared, nullptr}, nullptr), 0);
  }
  EXPECT_EQ(fake.count("cudaFuncSetAttribute"), 0u);
}

TEST_F(Cudart, ALaunchIsOneCallOfTheRuntime) {
  ASSERT_EQ(gpu_load({kGrid, 4, 1000, nullptr}), 0);
  EXPECT_EQ(fake.count("cudaOccupancyMaxActiveBlocksPerMultiprocessor"), 1u);
  fake.calls.clear();
  ASSERT_EQ(gpu_launch({kGrid, 4, 1000, nullptr}, nullptr), 0);
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cudaLaunchCooperativeKernel"});
}

TEST_F(Cudart, LoadingFindsAGridThatDoesNotFit) {
  EXPECT_EQ(gpu_load({kGrid, 5, 1000, nullptr}), kGridDoesNotFit);
  EXPECT_EQ(gpu_load({kBlock, 5, 1000, nullptr}), 0);
  EXPECT_EQ(gpu_load({kPlain, 5, 0, nullptr}), 0);
  EXPECT_EQ(fake.loaded.size(), 3u);
}

TEST_F(Cudart, ClustersAreAllowedWhenLoadedAndLaunchedAsSuch) {
  ASSERT_EQ(gpu_load({kCluster, 32, 1000, nullptr, 16}), 0);
  fake.calls.clear();
  char stream;
  ASSERT_EQ(gpu_launch({kCluster, 32, 1000, nullptr, 16}, &stream), 0);
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cudaLaunchKernelExC"});
  EXPECT_EQ(fake.launched.gridDim.x, 32u);
  EXPECT_EQ(fake.launched.blockDim.x, kThreads);
  EXPECT_EQ(fake.launched.dynamicSmemBytes, 1000u);
  EXPECT_EQ(fake.launched.stream, &stream);
  EXPECT_EQ(fake.launched.numAttrs, 1u);
  EXPECT_EQ(fake.launched_as.id, cudaLaunchAttributeClusterDimension);
  EXPECT_EQ(fake.launched_as.val.clusterDim.x, 16u);
  EXPECT_EQ(fake.launched_as.val.clusterDim.y * fake.launched_as.val.clusterDim.z, 1u);
}

TEST_F(Cudart, LoadingFindsAClusterThatTheGpuHasNotOrThatNobodyCompiled) {
  fake.clusters = 0;
  EXPECT_EQ(gpu_load({kCluster, 32, 1000, nullptr, 16}), kGridDoesNotFit);
  fake.clusters = 1;
  fake.ptx = 80;  // made for this GPU from a program of older ones
  EXPECT_EQ(gpu_load({kCluster, 32, 1000, nullptr, 16}), kNoKernelForDevice);
}

TEST_F(Cudart, AQuerySaysHowManyBlocksAClusterOfOursMayHave) {
  const auto blocks = [] {
    rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
    EXPECT_EQ(gpu_query(3, &device), 0);
    return device.cluster_blocks;
  };
  EXPECT_EQ(blocks(), 0u) << "an older GPU";
  EXPECT_EQ(fake.loaded.size(), 0u);
  fake.major = 9;
  EXPECT_EQ(blocks(), 16u);
  EXPECT_EQ(fake.device, 0) << "the thread's GPU is another";
  for (const int most : {1, 8, 32}) {
    fake.most_of_cluster = most;
    EXPECT_EQ(blocks(), most == 1 ? 0u : most == 8 ? 8u : 16u);
  }
  fake.ptx = 80;
  EXPECT_EQ(blocks(), 0u) << "kernels were made for this GPU from a program of older ones";
}

// weights and work: not the host's memory, however well the GPU reaches it, nor another GPU's.
TEST_F(Cudart, OnlyTheCurrentGpusOwnMemoryIsItsOwn) {
  const char memory[5] = {};
  const cudaMemoryType types[] = {cudaMemoryTypeDevice, cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost};
  for (int i = 0; i < 4; ++i) fake.memory[memory + i] = {types[i], i == 1, const_cast<char *>(memory + i)};
  fake.pageable = 1;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(gpu_owns(memory + i), i == 0) << i;
    EXPECT_FALSE(gpu_cannot_reach(memory + i)) << i;
    EXPECT_EQ(gpu_is_mapped(memory + i), i == 3) << i;
  }
  fake.memory[memory + 3].devicePointer = nullptr;  // the GPU has it elsewhere
  EXPECT_FALSE(gpu_is_mapped(memory + 3));
  fake.pageable = 0;
  EXPECT_TRUE(gpu_cannot_reach(memory + 4));
  fake.device = 1;
  EXPECT_TRUE(gpu_owns(memory + 1));
  int32_t current = -1;
  EXPECT_EQ(gpu_current(&current), 0);
  EXPECT_EQ(current, 1);
}

TEST_F(Cudart, WhetherAStreamIsCapturedIsAskedWithoutAQuery) {
  char stream, other;
  fake.capturing = &stream;
  EXPECT_TRUE(gpu_is_capturing(&stream));
  EXPECT_FALSE(gpu_is_capturing(&other));
  EXPECT_EQ(fake.count("cudaStreamQuery"), 0u);
  fake.capturing = nullptr;
  fake.busy = 1;
  EXPECT_TRUE(gpu_is_busy(&other));
}

TEST_F(Cudart, AGraphIsMadeOnceAndWhatItWasMadeFromGoes) {
  char stream;
  void *graph = nullptr;
  ASSERT_EQ(gpu_begin_capture(&stream), 0);
  ASSERT_EQ(gpu_end_capture(&stream, &graph), 0);
  EXPECT_EQ(graph, &fake.exec);
  EXPECT_EQ(fake.count("cudaGraphDestroy"), 1u);
  EXPECT_EQ(fake.count("cudaGraphUpload"), 1u) << "so that the first run pays nothing";
  fake.calls.clear();
  EXPECT_EQ(gpu_run_graph(graph, &stream), 0);
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cudaGraphLaunch"});
  gpu_free_graph(graph);
  EXPECT_EQ(fake.count("cudaGraphExecDestroy"), 1u);
  // A capture that is given up, and one that CUDA gave up.
  fake.calls.clear();
  ASSERT_EQ(gpu_begin_capture(&stream), 0);
  EXPECT_EQ(gpu_end_capture(&stream, nullptr), 0);
  fake.capture_ends = cudaErrorStreamCaptureUnsupported;
  graph = nullptr;
  EXPECT_NE(gpu_end_capture(&stream, &graph), 0);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(fake.count("cudaGraphInstantiate"), 0u);
}

TEST_F(Cudart, EachKindOfMemoryHasItsOwnCalls) {
  void *memory = nullptr;
  EXPECT_EQ(gpu_alloc(RNNP_CUDA_DEVICE_MEMORY, 8, &memory), 0);
  gpu_free(RNNP_CUDA_DEVICE_MEMORY, memory);
  EXPECT_EQ(gpu_alloc(RNNP_CUDA_MAPPED_MEMORY, 8, &memory), 0);
  gpu_free(RNNP_CUDA_MAPPED_MEMORY, memory);
  EXPECT_EQ(fake.calls, (std::vector<std::string>{"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost"}));
}

}  // namespace
}  // namespace rnnp::cuda
