// cuda_api_test.cpp -- the CUDA session's API on the emulated GPU: devices, options and models that are refused, with which status
// and which words; images, weights and saved states. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cuda/cuda_session.h"
#include "cuda/ops/cuda_ops.h"
#include "cuda_api_fixture.h"
#include "rnnpack/registry.h"
#include "support/blob_tables.h"

namespace rnnp_test {
namespace {

using rnnp::cuda::emulated_gpu;

TEST_F(CudaApi, ADeviceThatIsNotThereOrTooOldIsSaid) {
  const AlignedBytes blob(lstm_blob());
  rnnp_model model;
  ASSERT_EQ(rnnp_model_open(&model, blob.data(), blob.size(), 0), RNNP_OK);
  rnnp_cuda_options o = RNNP_CUDA_OPTIONS_INIT;
  rnnp_cuda_memory memory = RNNP_CUDA_MEMORY_INIT;
  rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
  rnnp_refusal why = RNNP_REFUSAL_INIT;
  EXPECT_EQ(rnnp_cuda_device_query(0, &device), RNNP_OK);
  EXPECT_EQ(rnnp_cuda_session_memory(&model, &o, &memory), RNNP_OK);
  emulated_gpu().no_device = 1;
  EXPECT_EQ(rnnp_cuda_device_query(0, &device), RNNP_E_DEVICE);
  EXPECT_EQ(rnnp_cuda_session_memory(&model, &o, &memory), RNNP_E_DEVICE);
  EXPECT_EQ(rnnp_cuda_session_explain(&model, &o, &why), RNNP_E_DEVICE);
  EXPECT_NE(std::string(why.reason).find("no GPU"), std::string::npos) << why.reason;
  device = small_device(8);
  o.device = &device;
  EXPECT_EQ(rnnp_cuda_session_memory(&model, &o, &memory), RNNP_OK) << "plans and packs need no GPU";
  device.arch = 800;
  EXPECT_EQ(rnnp_cuda_session_memory(&model, &o, &memory), RNNP_OK) << "the oldest";
  device.arch = 750;
  EXPECT_EQ(rnnp_cuda_session_explain(&model, &o, &why), RNNP_E_DEVICE);
  EXPECT_NE(std::string(why.reason).find("sm_80"), std::string::npos) << why.reason;
}

TEST_F(CudaApi, BadOptionsAreRefused) {
  const AlignedBytes blob(lstm_blob());
  rnnp_model model;
  ASSERT_EQ(rnnp_model_open(&model, blob.data(), blob.size(), 0), RNNP_OK);
  rnnp_cuda_memory memory = RNNP_CUDA_MEMORY_INIT;
  const auto status = [&](void (*change)(rnnp_cuda_options *)) {
    rnnp_cuda_options o = RNNP_CUDA_OPTIONS_INIT;
    change(&o);
    return rnnp_cuda_session_memory(&model, &o, &memory);
  };
  EXPECT_EQ(status([](rnnp_cuda_options *) {}), RNNP_OK);
  EXPECT_EQ(status([](rnnp_cuda_options *o) { o->struct_bytes = 0; }), RNNP_E_ARG);
  EXPECT_EQ(status([](rnnp_cuda_options *o) { o->max_batch = 0; }), RNNP_E_ARG);
  EXPECT_EQ(status([](rnnp_cuda_options *o) { o->weights = 7; }), RNNP_E_ARG);
  EXPECT_EQ(status([](rnnp_cuda_options *o) { o->kernels_allowed = 8; }), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_session_memory(nullptr, nullptr, &memory), RNNP_E_ARG);
  EXPECT_EQ(rnnp_cuda_session_memory(&model, nullptr, nullptr), RNNP_E_ARG);
}

TEST_F(CudaApi, ALayerInIntegersIsRefusedByItsNameAndWithWhatWouldDo) {
  BlobBuilder b(3, 8);
  b.weights = b.recurrent_weights = rnnp::DType::kI8;
  RecurrentOptions o;
  b.add_output(b.add_recurrent(b.add_input(4), 4, o));
  BlobTables t(b.build());
  for (rnnp::BlobMatrix &m : t.matrices) m.format = 24, m.unit_sums = rnnp::kNone, m.lhs_scale = 128;
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  ASSERT_EQ(rnnp_model_open(&model, blob.data(), blob.size(), 0), RNNP_OK);
  rnnp_refusal why = RNNP_REFUSAL_INIT;
  rnnp_cuda_memory memory = RNNP_CUDA_MEMORY_INIT;
  EXPECT_EQ(rnnp_cuda_session_explain(&model, nullptr, &why), RNNP_E_LAYOUT);
  EXPECT_EQ(why.node, 0u);
  EXPECT_STREQ(why.op, "LSTM");
  EXPECT_NE(std::string(why.reason).find("without --arithmetic integer"), std::string::npos) << why.reason;
  EXPECT_EQ(rnnp_cuda_session_memory(&model, nullptr, &memory), RNNP_E_LAYOUT);
}

TEST_F(CudaApi, ProductsOfBf16AreRefusedWithWhatWouldDo) {
  BlobBuilder b(3, 16);
  b.rounds_lhs = true;
  b.weights = b.recurrent_weights = rnnp::DType::kBf16;
  b.add_output(b.add_recurrent(b.add_input(4), 4, {}));
  const AlignedBytes blob(b.build());
  rnnp_model model;
  ASSERT_EQ(rnnp_model_open(&model, blob.data(), blob.size(), 0), RNNP_OK);
  rnnp_refusal why = RNNP_REFUSAL_INIT;
  EXPECT_EQ(rnnp_cuda_session_explain(&model, nullptr, &why), RNNP_E_LAYOUT);
  EXPECT_NE(std::string(why.reason).find("without --arithmetic bf16"), std::string::npos) << why.reason;
}

TEST_F(CudaApi, SingleWeightsAreRefusedByTheirNodeAndWithWhatWouldDo) {
  for (const bool recurrent : {true, false}) {
    for (const rnnp::DType type : {rnnp::DType::kF32, rnnp::DType::kI8}) {
      BlobBuilder b(3, 16);
      b.block_units = 1;
      b.weights = b.recurrent_weights = type;
      const uint32_t x = b.add_input(4);
      b.add_output(recurrent ? b.add_recurrent(x, 4, {}) : b.add_dense(x, 4, 20));
      const AlignedBytes blob(b.build());
      rnnp_model model;
      ASSERT_EQ(rnnp_model_open(&model, blob.data(), blob.size(), 0), RNNP_OK);
      rnnp_refusal why = RNNP_REFUSAL_INIT;
      EXPECT_EQ(rnnp_cuda_session_explain(&model, nullptr, &why), RNNP_E_LAYOUT);
      EXPECT_EQ(why.node, 0u);
      EXPECT_STREQ(why.op, recurrent ? "LSTM" : "Dense");
      EXPECT_NE(std::string(why.reason).find("--sparse blocks or off"), std::string::npos) << why.reason;
    }
  }
}

TEST_F(CudaApi, ABlobThatTheCpuRefusesIsRefusedByItsName) {
  BlobBuilder b(3, 8);
  const uint32_t x = b.add_recurrent(b.add_input(4), 4, {});
  const rnnp::AttrFeatureRecurrent inner = {};
  b.add_output(b.add_node(rnnp::OpKind::kFeatureRecurrent, &inner, sizeof inner, {x}, 16, true));
  const AlignedBytes blob(b.build());
  rnnp_model model;
  ASSERT_EQ(rnnp_model_open(&model, blob.data(), blob.size(), 0), RNNP_OK);
  rnnp_refusal why = RNNP_REFUSAL_INIT;
  rnnp_cuda_memory memory = RNNP_CUDA_MEMORY_INIT;
  EXPECT_EQ(rnnp_cuda_session_explain(&model, nullptr, &why), RNNP_E_BLOB_CORRUPT);
  EXPECT_EQ(why.node, 1u);
  EXPECT_STREQ(why.node_name, "node1");
  EXPECT_EQ(rnnp_cuda_session_memory(&model, nullptr, &memory), RNNP_E_BLOB_CORRUPT);
}

// An operator that the CPU learns must be given a kernel, or a refusal that says why there is none.
TEST_F(CudaApi, EveryKindOfOperatorHasAKernelOrAReason) {
  const rnnp_registry &r = rnnp::cuda::kCudaRegistry;
  const auto *const *ops = reinterpret_cast<const rnnp::Op *const *>(r.ops);
#define RNNPACK_EXPECT_KIND(name)                                                                                          \
  EXPECT_NE(rnnp::cuda::why_not_on_cuda(uint32_t(rnnp::rnnp_op_##name.kind)) == nullptr,                                   \
            std::none_of(ops, ops + r.op_count, [](const rnnp::Op *op) { return op->kind == rnnp::rnnp_op_##name.kind; })) \
      << #name;
  RNNP_FOR_EACH_OP(RNNPACK_EXPECT_KIND)
#undef RNNPACK_EXPECT_KIND
}

TEST_F(CudaApi, AnImageOfOtherOptionsIsNoticed) {
  const std::vector<uint8_t> bytes = lstm_blob();
  CudaRunner runner(bytes);
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), image(need.image_bytes), weights(need.weight_bytes), work(need.work_bytes);
  rnnp_cuda_session *session = nullptr;
  rnnp_cuda_options o = runner.options();
  const auto init = [&](const void *from, size_t host_bytes) {
    const rnnp_cuda_buffers places = {sizeof places, 0, host.data(), host_bytes, from, weights.data(), work.data(), nullptr};
    return rnnp_cuda_session_init(&session, runner.model(), &o, &places, nullptr);
  };
  ASSERT_EQ(rnnp_cuda_pack(runner.model(), &o, image.data(), need.image_bytes), RNNP_OK);
  EXPECT_EQ(rnnp_cuda_pack(runner.model(), &o, image.data(), need.image_bytes - 1), RNNP_E_SMALL_MEMORY);
  EXPECT_EQ(init(image.data(), need.host_bytes - 1), RNNP_E_SMALL_MEMORY);
  EXPECT_EQ(init(image.data() + 1, need.host_bytes), RNNP_E_ALIGN);
  EXPECT_EQ(init(image.data(), need.host_bytes), RNNP_OK);
  image.data()[need.image_bytes - 700] ^= 1;
  session = nullptr;
  EXPECT_EQ(init(image.data(), need.host_bytes), RNNP_E_IMAGE_MISMATCH);
  image.data()[need.image_bytes - 700] ^= 1;
  o.sm_limit = 1;
  EXPECT_EQ(init(image.data(), need.host_bytes), RNNP_E_IMAGE_MISMATCH);
  EXPECT_EQ(session, nullptr);
}

// An image packed ahead by a data sheet's clock is taken where the chip reports another, if that leads to the same plan.
TEST_F(CudaApi, AnImageBelongsToAPlanNotToTheFactsThatLedToIt) {
  CudaRunner runner(lstm_blob(), resident());
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), image(need.image_bytes), weights(need.weight_bytes), work(need.work_bytes);
  rnnp_cuda_device device = small_device(4);
  rnnp_cuda_options o = runner.options();
  o.device = &device;
  ASSERT_EQ(rnnp_cuda_pack(runner.model(), &o, image.data(), image.size()), RNNP_OK);
  const auto init = [&] {
    rnnp_cuda_session *session = nullptr;
    const rnnp_cuda_buffers places = {sizeof places,  0,           host.data(), host.size(), image.data(),
                                      weights.data(), work.data(), nullptr};
    return rnnp_cuda_session_init(&session, runner.model(), &o, &places, nullptr);
  };
  device.clock_mhz = 918;
  device.memory_mb_per_s += 1000;
  device.l2_bytes /= 2;
  EXPECT_EQ(init(), RNNP_OK);
  o.kernels_allowed = RNNP_CUDA_STEPS;
  EXPECT_EQ(init(), RNNP_E_IMAGE_MISMATCH);
}

// Words and weights are the GPU's own memory; x and y may be the host's that it reaches.
TEST_F(CudaApi, WeightsAndWorkAreDeviceMemory) {
  CudaRunner runner(lstm_blob());
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), weights(need.weight_bytes), work(need.work_bytes);
  const rnnp_cuda_buffers places = {sizeof places, 0, host.data(), host.size(), nullptr, weights.data(), work.data(), nullptr};
  rnnp_cuda_session *session = nullptr;
  for (DeviceBytes *mapped : {&weights, &work}) {
    emulated_gpu().mapped = mapped->data();
    emulated_gpu().mapped_bytes = mapped->size();
    EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_E_ARG);
    EXPECT_EQ(session, nullptr);
  }
  SharedArray<float> x(4 * 5, 1.0f), y(4 * 40, 0.0f);
  emulated_gpu().mapped = x.data();
  emulated_gpu().mapped_bytes = 4 * 5 * sizeof(float);
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_OK);
  EXPECT_EQ(rnnp_cuda_run(session, 4, x.data(), y.data(), nullptr), RNNP_OK);
}

// Kernels that were made for this GPU from a program of older ones have no clusters.
TEST_F(CudaApi, AClusterThatTheGpuOrItsKernelsLackIsRefusedAtInit) {
  CudaOptions o = resident();
  o.weights = RNNP_CUDA_F16, o.arch = 900, o.sms = 16;
  o.kernels = RNNP_CUDA_CLUSTER;
  CudaRunner runner(lstm_blob(5, 70), o);
  ASSERT_EQ(runner.layer().kernel, RNNP_CUDA_CLUSTER) << runner.layer().reason;
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), weights(need.weight_bytes), work(need.work_bytes);
  const rnnp_cuda_buffers places = {sizeof places, 0, host.data(), host.size(), nullptr, weights.data(), work.data(), nullptr};
  rnnp_cuda_session *session = nullptr;
  emulated_gpu().no_clusters = true;
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_E_DEVICE);
  EXPECT_EQ(session, nullptr);
  emulated_gpu() = rnnp::cuda::EmulatedGpu();
  emulated_gpu().device.sm_count = 1;
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_E_BUSY);
}

// What the first run would load, and whether it would answer BUSY, is known when the session is made.
TEST_F(CudaApi, ASessionLoadsItsKernelsAndChecksItsGridAtInit) {
  CudaRunner runner(lstm_blob(5, 70), resident());
  ASSERT_GT(runner.layer().blocks, 1u);
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), weights(need.weight_bytes), work(need.work_bytes);
  const std::vector<uint8_t> untouched(work.data(), work.data() + work.size());
  const rnnp_cuda_buffers places = {sizeof places, 0, host.data(), host.size(), nullptr, weights.data(), work.data(), nullptr};
  rnnp_cuda_session *session = nullptr;
  emulated_gpu().device.sm_count = 1;
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_E_BUSY);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(untouched, std::vector<uint8_t>(work.data(), work.data() + work.size()));
  emulated_gpu() = rnnp::cuda::EmulatedGpu();
  rnnp_cuda_memory memory = RNNP_CUDA_MEMORY_INIT;
  EXPECT_EQ(rnnp_cuda_session_memory(runner.model(), &runner.options(), &memory), RNNP_OK);
  EXPECT_EQ(emulated_gpu().loads, 0u) << "only a session loads";
  ASSERT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_OK);
  const uint64_t loads = emulated_gpu().loads;
  EXPECT_GT(loads, 3u);
  SharedArray<float> x(4 * 5, 1.0f), y(4 * 70, 0.0f);
  EXPECT_EQ(rnnp_cuda_run(session, 4, x.data(), y.data(), nullptr), RNNP_OK);
  EXPECT_EQ(rnnp_cuda_step(session, x.data(), y.data(), nullptr), RNNP_OK);
  EXPECT_EQ(emulated_gpu().loads, loads);
}

// h is back where the next call looks for it without a launch of its own, but for batches that a block would copy too slowly.
TEST_F(CudaApi, AStepIsOneLaunch) {
  const uint32_t kUnits = 140, kFew = 3, kMany = 60;
  for (const uint32_t batch : {kFew, kMany}) {
    CudaRunner runner(lstm_blob(5, kUnits), resident(batch));
    SharedArray<float> x(batch * 5, 1.0f), y(batch * kUnits, 0.0f);
    const auto launched = [] {
      const auto &launches = emulated_gpu().launches;
      return std::accumulate(std::begin(launches), std::end(launches), uint64_t{0});
    };
    ASSERT_EQ(rnnp_cuda_step(runner.session(), x.data(), y.data(), nullptr), RNNP_OK);  // the initial state is loaded once, too
    const uint64_t before = launched();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(rnnp_cuda_step(runner.session(), x.data(), y.data(), nullptr), RNNP_OK);
    EXPECT_EQ(launched() - before, batch == kFew ? 3u : 6u);
  }
}

TEST_F(CudaApi, BuffersThatAreNotFilledInAreRefused) {
  CudaRunner runner(lstm_blob());
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), weights(need.weight_bytes), work(need.work_bytes);
  const rnnp_cuda_buffers good = {sizeof good, 0, host.data(), host.size(), nullptr, weights.data(), work.data(), nullptr};
  rnnp_cuda_session *session = nullptr;
  const auto init = [&](const rnnp_cuda_buffers *places) {
    return rnnp_cuda_session_init(&session, runner.model(), &runner.options(), places, nullptr);
  };
  EXPECT_EQ(init(nullptr), RNNP_E_ARG);
  for (const uint32_t bytes : {0u, 8u, static_cast<uint32_t>(offsetof(rnnp_cuda_buffers, findings)) - 1}) {
    rnnp_cuda_buffers places = good;
    places.struct_bytes = bytes;
    EXPECT_EQ(init(&places), RNNP_E_ARG) << bytes;
  }
  rnnp_cuda_buffers places = good;
  places.reserved = 1;
  EXPECT_EQ(init(&places), RNNP_E_ARG);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(init(&good), RNNP_OK);
}

// What kernels found is read where they wrote it: a wait copies nothing.
TEST_F(CudaApi, FindingsAreInMappedMemoryWhereThereIsSome) {
  for (const bool maps : {true, false}) {
    CudaOptions o = resident();
    o.maps_findings = maps;
    CudaRunner runner(lstm_blob(), o);
    runner.run(random_floats(4 * 5, 1));
    const uint64_t copies = emulated_gpu().host_copies;
    EXPECT_EQ(rnnp_cuda_wait(runner.session(), nullptr), RNNP_OK);
    EXPECT_EQ(emulated_gpu().host_copies - copies, maps ? 0u : 1u);
  }
  CudaRunner runner(lstm_blob());
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), weights(need.weight_bytes), work(need.work_bytes), found(256);
  rnnp_cuda_buffers places = {sizeof places, 0, host.data(), host.size(), nullptr, weights.data(), work.data(), found.data() + 4};
  rnnp_cuda_session *session = nullptr;
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_E_ALIGN);
  places.findings = found.data();
  emulated_gpu().host_only = found.data();
  emulated_gpu().host_only_bytes = 64;
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_E_ARG);
  emulated_gpu().host_only = nullptr;
  EXPECT_EQ(rnnp_cuda_session_init(&session, runner.model(), &runner.options(), &places, nullptr), RNNP_OK);
}

TEST_F(CudaApi, SessionsOfEqualOptionsShareWeights) {
  const std::vector<uint8_t> bytes = lstm_blob();
  CudaRunner runner(bytes);
  const rnnp_cuda_memory need = runner.memory();
  DeviceBytes host(need.host_bytes), image(need.image_bytes), work(need.work_bytes);
  ASSERT_EQ(rnnp_cuda_pack(runner.model(), &runner.options(), image.data(), image.size()), RNNP_OK);
  rnnp_cuda_session *second = nullptr;  // the image lies where the device reads it: as its weights
  const rnnp_cuda_buffers places = {sizeof places, 0, host.data(), host.size(), nullptr, image.data(), work.data(), nullptr};
  ASSERT_EQ(rnnp_cuda_session_init(&second, runner.model(), &runner.options(), &places, nullptr), RNNP_OK);
  const std::vector<float> in = random_floats(3 * 5, 1);
  SharedArray<float> x(in), y(3 * 40, 0.0f);
  ASSERT_EQ(rnnp_cuda_run(second, 3, x.data(), y.data(), nullptr), RNNP_OK);
  EXPECT_EQ(y.vector(), runner.run(in));
}

TEST_F(CudaApi, ASavedStateOfAnotherModelIsRefused) {
  CudaRunner runner(lstm_blob()), other(lstm_blob(5, 24));
  std::vector<uint8_t> bytes = runner.save(0);
  const std::vector<uint8_t> before = bytes;
  bytes.back() ^= 1;
  EXPECT_EQ(rnnp_cuda_state_load(runner.session(), 0, bytes.data(), bytes.size(), nullptr), RNNP_E_STATE_MISMATCH);
  EXPECT_EQ(rnnp_cuda_state_load(runner.session(), 0, bytes.data(), bytes.size() - 1, nullptr), RNNP_E_SMALL_MEMORY);
  const std::vector<uint8_t> foreign = other.save(0);
  std::vector<uint8_t> padded(before.size());
  std::copy(foreign.begin(), foreign.end(), padded.begin());
  EXPECT_EQ(rnnp_cuda_state_load(runner.session(), 0, padded.data(), padded.size(), nullptr), RNNP_E_STATE_MISMATCH);
  EXPECT_EQ(before, runner.save(0));
}

}  // namespace
}  // namespace rnnp_test
