// cuda_compiled_test.cpp -- what the compiler makes, as CUDA sessions beside CPU sessions: random models of every operator that it
// knows, and the published networks, which lie in the folder RNNPACK_MODELS_DIR. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/problem.h"
#include "compiler/run/cuda_backend.h"
#include "compiler/verify/self_check.h"
#include "cuda/both_sessions.h"
#include "cuda/emulator/emulated_gpu.h"
#include "networks/network_blob.h"
#include "random_models.h"

namespace rnnp_test {
namespace {

using namespace rnnp;

rnnp_model_info facts_of_blob(const std::vector<uint8_t> &bytes, rnnp_refusal *why) {
  const AlignedBytes blob(bytes);
  rnnp_model model;
  expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  expect_ok(rnnp_model_get_info(&model, &facts), "info");
  const rnnp_cuda_device device = small_device(4);
  rnnp_cuda_options o = RNNP_CUDA_OPTIONS_INIT;
  o.max_batch = facts.fixed_batch != 0 ? facts.fixed_batch : 1;
  o.max_steps = 8;
  o.device = &device;
  const rnnp_status status = rnnp_cuda_session_explain(&model, &o, why);
  EXPECT_EQ(status, why->status);
  return facts;
}

// rnnpack run --cuda on a machine without a GPU.
TEST(CudaGraphs, AToolWithoutAGpuSaysSo) {
  BlobBuilder b(1);
  b.add_output(b.add_recurrent(b.add_input(3), 3, {}));
  const compiler::Runner runner(b.build());
  cuda::emulated_gpu().no_device = 100;
  std::string said;
  try {
    compiler::make_cuda_backend(runner, "f32");
  } catch (const compiler::IoError &error) {
    said = error.what();
  }
  cuda::emulated_gpu() = cuda::EmulatedGpu();
  EXPECT_NE(said.find("no GPU"), std::string::npos) << said;
}

TEST(CudaGraphs, RunAsOnTheCpu) {
  constexpr uint32_t kGraphs = 50;
  uint32_t ran = 0, of_bytes = 0;
  for (uint32_t seed = 1; ran < kGraphs && seed < testing_support::kRandomModels && !HasFailure(); ++seed) {
    std::vector<uint8_t> blob;
    const bool bytes = seed % 3 == 0;
    try {
      const auto model = compiler::check_model(testing_support::random_onnx(seed));
      if (compiler::has_jumps(model->graph)) continue;
      compiler::CompileOptions options;
      if (bytes) options.weights = "int8";
      blob = compiler::compile_model(*model, options).blob;
    } catch (const std::exception &) {
      continue;  // refused
    }
    rnnp_refusal why = RNNP_REFUSAL_INIT;
    const rnnp_model_info facts = facts_of_blob(blob, &why);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + why.reason);
    if (why.status == RNNP_E_LAYOUT) continue;  // CPUs alone have low-precision layers over a feature axis
    ASSERT_EQ(why.status, RNNP_OK);
    std::mt19937 random(seed);
    const uint32_t batch = facts.fixed_batch != 0 ? facts.fixed_batch : 2;
    BothSessions both(blob, batch, 6);
    for (const size_t steps : {size_t{4}, size_t{1}})
      both.expect_same(steps, batch, nullptr, nullptr, 0, &random, bytes ? 3e-2 : 1e-3);
    ++ran;
    of_bytes += bytes;
  }
  EXPECT_EQ(ran, kGraphs);
  EXPECT_GT(of_bytes, kGraphs / 6);
}

class CudaNetworks : public testing::TestWithParam<networks::Network> {
 protected:
  // Two calls of different lengths, the state to the CPU between them.
  void expect_same_as_on_the_cpu(const compiler::Arrays &golden, const std::string &weights, double bound) {
    const std::vector<uint8_t> blob = networks::compiled_network(GetParam(), golden, true, weights);
    rnnp_refusal why = RNNP_REFUSAL_INIT;
    const rnnp_model_info facts = facts_of_blob(blob, &why);
    ASSERT_EQ(why.status, RNNP_OK) << why.op << " " << why.node_name << ": " << why.reason;
    const uint32_t batch = facts.fixed_batch != 0 ? facts.fixed_batch : 1;
    std::mt19937 random(3);
    BothSessions both(blob, batch, 4);
    for (const size_t steps : {size_t{2}, size_t{1}}) both.expect_same(steps, batch, nullptr, nullptr, 0, &random, bound);
    both.cpu().load(0, both.gpu().save(0));
    both.expect_same(1, batch, nullptr, nullptr, 0, &random, bound);
  }
};

TEST_P(CudaNetworks, RunAsOnTheCpu) {
  if (networks::models_folder().empty()) GTEST_SKIP() << "RNNPACK_MODELS_DIR is not set: the published networks are not here";
  const compiler::Arrays golden = compiler::read_npz(networks::models_folder() + "/golden/" + GetParam().golden);
  expect_same_as_on_the_cpu(golden, "", 1e-4);
  expect_same_as_on_the_cpu(golden, "int8", 5e-2);
}

INSTANTIATE_TEST_SUITE_P(Published, CudaNetworks, testing::ValuesIn(networks::networks()),
                         [](const auto &param) { return std::string(param.param.name); });

}  // namespace
}  // namespace rnnp_test
