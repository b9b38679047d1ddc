// cuda_invariants_test.cpp -- recurrent layers on the GPU: near the f64 reference, and the same bits however a stream is cut,
// whoever shares its batch, which kernel runs it and in which order threads run. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/cuda_runner.h"
#include "support/reference_layers.h"

namespace rnnp_test {
namespace cuda_invariants_test {

using rnnp::Cell;

struct Case {
  const char *name;
  Cell cell;
  uint32_t input, hidden, batch, sms, weights;
  double bound;                                              // of f32 weights; of others beside a reference that does not round
  rnnp::DType w = rnnp::DType::kF32, r = rnnp::DType::kF32;  // the blob's
  uint32_t block_units = 0;                                  // of sparse ones
  bool resident = true, one_step = true, alone = false;      // alone: resident in one block
  bool cluster = false;                                      // in clusters
  bool masked = false;

  uint32_t width() const { return input + (masked ? 1 : 0); }
};

void PrintTo(const Case &c, std::ostream *out) {
  *out << c.name;
}

constexpr uint32_t kClusterArch = 900;
constexpr rnnp::DType kI8 = rnnp::DType::kI8, kI4 = rnnp::DType::kI4, kF32 = rnnp::DType::kF32, kBf16 = rnnp::DType::kBf16;

// Odd sizes, half row tiles, several blocks, batches beyond the 8 columns of a product.
const Case kCases[] = {
    {"GruF32LongInput", Cell::kGruLinear, 1100, 20, 3, 6, RNNP_CUDA_F32, 1e-5},  // x in more than one stretch
    {"LstmF32", Cell::kLstm, 5, 70, 3, 3, RNNP_CUDA_F32, 2e-6},
    {"LstmF16", Cell::kLstm, 20, 70, 3, 5, RNNP_CUDA_F16, 2e-3},
    {"LstmF16Batch10", Cell::kLstm, 3, 40, 10, 3, RNNP_CUDA_F16, 2e-3},
    {"LstmF16Alone", Cell::kLstm, 9, 57, 3, 4, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, true},
    {"LstmF16Wide", Cell::kLstm, 9, 160, 1, 5, RNNP_CUDA_F16, 2e-3},
    {"GruLinearF32", Cell::kGruLinear, 7, 77, 2, 2, RNNP_CUDA_F32, 2e-6},
    {"GruLinearF16", Cell::kGruLinear, 12, 98, 2, 4, RNNP_CUDA_F16, 2e-3},
    {"GruLinearF16Alone", Cell::kGruLinear, 12, 64, 2, 3, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, true},
    {"GruF32", Cell::kGru, 6, 45, 2, 2, RNNP_CUDA_F32, 2e-6},
    {"GruF16", Cell::kGru, 18, 53, 9, 4, RNNP_CUDA_F16, 2e-3},
    {"GruF16Alone", Cell::kGru, 18, 53, 8, 4, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, true},
    {"RnnF32", Cell::kRnn, 4, 131, 2, 2, RNNP_CUDA_F32, 2e-6},
    {"RnnF16", Cell::kRnn, 33, 150, 2, 5, RNNP_CUDA_F16, 2e-3},
    {"RnnF16Alone", Cell::kRnn, 33, 50, 2, 4, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, true},
    {"LstmF16Rounds", Cell::kLstm, 20, 80, 3, 5, RNNP_CUDA_F16, 2e-3},  // whole k-tiles: places are found once
    {"GruLinearF16Rounds", Cell::kGruLinear, 12, 96, 2, 6, RNNP_CUDA_F16, 2e-3},
    {"GruF16Rounds", Cell::kGru, 18, 96, 2, 6, RNNP_CUDA_F16, 2e-3},
    {"RnnF16Rounds", Cell::kRnn, 33, 160, 2, 5, RNNP_CUDA_F16, 2e-3},
    {"LstmI8Rounds", Cell::kLstm, 35, 128, 2, 16, RNNP_CUDA_F32, 2e-2, kI8, kI8},
    {"GruI8Rounds", Cell::kGru, 18, 224, 1, 6, RNNP_CUDA_BF16, 2e-2, kI8, kI8},
    {"LstmF16Cluster", Cell::kLstm, 20, 70, 3, 16, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"LstmF16ClusterBatch8", Cell::kLstm, 3, 33, 8, 5, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"LstmF16ClusterOf16", Cell::kLstm, 5, 250, 2, 16, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"LstmF16ClusterWide", Cell::kLstm, 5, 301, 1, 16, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"LstmF16Clusters", Cell::kLstm, 5, 60, 5, 16, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"GruLinearF16Cluster", Cell::kGruLinear, 12, 98, 2, 16, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"GruLinearF16ClusterWide", Cell::kGruLinear, 12, 270, 2, 16, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, true, true, false, true},
    {"LstmF32Clusters", Cell::kLstm, 5, 70, 3, 16, RNNP_CUDA_F32, 2e-6, kF32, kF32, 0, true, true, false, true},
    {"LstmF32Cluster", Cell::kLstm, 3, 262, 1, 16, RNNP_CUDA_F32, 2e-6, kF32, kF32, 0, true, true, false, true},
    {"GruLinearF32Clusters", Cell::kGruLinear, 7, 61, 2, 40, RNNP_CUDA_F32, 2e-6, kF32, kF32, 0, true, true, false, true},
    {"GruLinearF32Cluster", Cell::kGruLinear, 7, 133, 1, 16, RNNP_CUDA_F32, 2e-6, kF32, kF32, 0, true, true, false, true},
    {"GruLinearF32ClusterWide", Cell::kGruLinear, 5, 270, 1, 16, RNNP_CUDA_F32, 2e-6, kF32, kF32, 0, true, true, false, true},
    {"LstmBf16", Cell::kLstm, 20, 70, 3, 9, RNNP_CUDA_BF16, 1e-2},
    {"GruLinearBf16", Cell::kGruLinear, 12, 64, 2, 4, RNNP_CUDA_BF16, 1e-2, kBf16, kBf16},
    {"GruBf16", Cell::kGru, 18, 53, 9, 4, RNNP_CUDA_BF16, 1e-2},
    {"RnnBf16", Cell::kRnn, 33, 50, 2, 4, RNNP_CUDA_BF16, 1e-2},
    {"LstmI8", Cell::kLstm, 35, 102, 3, 16, RNNP_CUDA_F32, 2e-2, kI8, kI8},
    {"LstmI8Batch10", Cell::kLstm, 3, 40, 10, 10, RNNP_CUDA_F16, 2e-2, kI8, kI8},
    {"LstmI8Wide", Cell::kLstm, 9, 278, 1, 16, RNNP_CUDA_F32, 2e-2, kI8, kI8},
    {"LstmI8InF32", Cell::kLstm, 6, 98, 2, 14, RNNP_CUDA_F32, 2e-2, kF32, kI8},
    {"LstmI8InF16", Cell::kLstm, 6, 98, 2, 14, RNNP_CUDA_F16, 2e-2, kF32, kI8},
    {"GruLinearF32InI8", Cell::kGruLinear, 40, 43, 3, 3, RNNP_CUDA_F32, 2e-2, kI8, kF32},
    {"GruLinearI8", Cell::kGruLinear, 12, 101, 2, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8},
    {"GruLinearI8EachRow", Cell::kGruLinear, 12, 67, 3, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 0, false, false},
    {"GruI8", Cell::kGru, 18, 53, 9, 5, RNNP_CUDA_BF16, 2e-2, kI8, kI8},
    {"GruI8EachRow", Cell::kGru, 18, 53, 2, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 0, false, false},
    {"RnnI8", Cell::kRnn, 33, 198, 2, 4, RNNP_CUDA_F32, 2e-2, kI8, kI8},
    {"LstmI4Batch10", Cell::kLstm, 35, 62, 10, 16, RNNP_CUDA_F32, 0.1, kI4, kI4},
    {"LstmI4Alone", Cell::kLstm, 35, 62, 3, 1, RNNP_CUDA_F32, 0.1, kI4, kI4, 0, true, true, true},
    {"GruLinearI4InF16", Cell::kGruLinear, 12, 131, 2, 3, RNNP_CUDA_F16, 0.1, kF32, kI4},
    {"GruLinearI4EachRow", Cell::kGruLinear, 40, 67, 2, 5, RNNP_CUDA_F32, 0.1, kI4, kI4, 0, false, false},
    {"GruI4", Cell::kGru, 40, 53, 9, 2, RNNP_CUDA_F32, 0.1, kI4, kI4},
    {"RnnI4Alone", Cell::kRnn, 9, 131, 2, 2, RNNP_CUDA_F32, 0.1, kI4, kI4, 0, true, true, true},
    {"LstmBlocks", Cell::kLstm, 37, 70, 5, 5, RNNP_CUDA_F32, 2e-6, kF32, kF32, 16},
    {"LstmBlocksByFour", Cell::kLstm, 5, 101, 3, 2, RNNP_CUDA_F32, 2e-6, kF32, kF32, 4},
    {"LstmBlocksBeyondRegisters", Cell::kLstm, 3, 200, 1, 1, RNNP_CUDA_F32, 2e-6, kF32, kF32, 4, true, true, true},
    {"LstmByteBlocksBeyondRegisters", Cell::kLstm, 3, 330, 1, 1, RNNP_CUDA_F32, 2e-2, kI8, kI8, 8, true, true, true},
    {"LstmByteBlocks", Cell::kLstm, 37, 70, 3, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 8},
    {"LstmByteBlocksAlone", Cell::kLstm, 5, 61, 4, 1, RNNP_CUDA_F32, 2e-2, kI8, kI8, 4, true, true, true},
    {"GruLinearBlocks", Cell::kGruLinear, 12, 50, 3, 5, RNNP_CUDA_F32, 2e-6, kF32, kF32, 4},
    {"GruLinearBlocksAlone", Cell::kGruLinear, 12, 50, 2, 1, RNNP_CUDA_F32, 2e-6, kF32, kF32, 8, true, true, true},
    {"GruLinearByteBlocks", Cell::kGruLinear, 12, 66, 1, 5, RNNP_CUDA_F16, 2e-2, kI8, kI8, 4},
    {"GruLinearByteBlocksEachRow", Cell::kGruLinear, 12, 66, 2, 5, RNNP_CUDA_F16, 2e-2, kI8, kI8, 4, false, false},
    {"GruBlocks", Cell::kGru, 12, 50, 6, 5, RNNP_CUDA_F32, 2e-6, kF32, kF32, 8},
    {"GruByteBlocks", Cell::kGru, 12, 85, 2, 2, RNNP_CUDA_F32, 2e-2, kI8, kI8, 16},
    {"GruByteBlocksEachRow", Cell::kGru, 12, 50, 2, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 16, false, false},
    {"RnnBlocks", Cell::kRnn, 9, 131, 6, 5, RNNP_CUDA_F32, 2e-6, kF32, kF32, 8},
    {"RnnBlocksOne", Cell::kRnn, 9, 131, 1, 2, RNNP_CUDA_F32, 2e-6, kF32, kF32, 4},
    {"RnnByteBlocks", Cell::kRnn, 9, 131, 2, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 4},
    {"RnnByteBlocksBatch10", Cell::kRnn, 9, 67, 10, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 4},
    {"LstmNormF32", Cell::kLstmNorm, 5, 70, 3, 3, RNNP_CUDA_F32, 1e-5, kF32, kF32, 0, false},
    {"LstmNormF32Batch10", Cell::kLstmNorm, 4, 19, 10, 2, RNNP_CUDA_F32, 1e-5, kF32, kF32, 0, false},
    {"LstmNormF16Batch10", Cell::kLstmNorm, 3, 40, 10, 5, RNNP_CUDA_F16, 1e-2, kF32, kF32, 0, false},
    {"LstmNormBf16", Cell::kLstmNorm, 18, 53, 2, 4, RNNP_CUDA_BF16, 5e-2, kBf16, kBf16, 0, false},
    {"LstmNormI8", Cell::kLstmNorm, 35, 62, 3, 3, RNNP_CUDA_F32, 0.2, kI8, kI8, 0, false},
    {"LstmNormI8InF16EachRow", Cell::kLstmNorm, 12, 67, 3, 5, RNNP_CUDA_F16, 5e-2, kF32, kI8, 0, false, false},
    {"LstmNormI4", Cell::kLstmNorm, 40, 53, 9, 2, RNNP_CUDA_F32, 0.5, kI4, kI4, 0, false},
    {"LstmNormBlocks", Cell::kLstmNorm, 37, 70, 2, 5, RNNP_CUDA_F32, 1e-5, kF32, kF32, 8, false},
    {"LstmNormByteBlocks", Cell::kLstmNorm, 12, 66, 2, 5, RNNP_CUDA_F32, 5e-2, kI8, kI8, 4, false},
    {"LstmF32Masked", Cell::kLstm, 5, 70, 3, 3, RNNP_CUDA_F32, 2e-6, kF32, kF32, 0, false, true, false, false, true},
    {"GruF16Masked", Cell::kGru, 18, 53, 9, 4, RNNP_CUDA_F16, 2e-3, kF32, kF32, 0, false, true, false, false, true},
    {"GruLinearI8Masked", Cell::kGruLinear, 12, 101, 2, 5, RNNP_CUDA_F32, 2e-2, kI8, kI8, 0, false, true, false, false, true},
    {"RnnBlocksMasked", Cell::kRnn, 9, 131, 6, 5, RNNP_CUDA_F32, 2e-6, kF32, kF32, 8, false, true, false, false, true},
    {"LstmNormF32Masked", Cell::kLstmNorm, 5, 70, 3, 3, RNNP_CUDA_F32, 1e-5, kF32, kF32, 0, false, true, false, false, true},
};

class CudaInvariants : public testing::TestWithParam<Case> {
 protected:
#ifndef RNNPACK_CUDA_EMULATED
  void SetUp() override {
    rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
    expect_ok(rnnp_cuda_device_query(-1, &device), "query");
    if (GetParam().cluster && device.arch < kClusterArch) GTEST_SKIP() << "this GPU has no clusters";
  }
#endif
  std::vector<uint8_t> blob(bool bidirectional = false, bool extra = false) {
    const Case &c = GetParam();
    BlobBuilder b(7, c.block_units != 0 ? 16 : 8);
    b.weights = c.w;
    b.recurrent_weights = c.r;
    b.block_units = c.block_units;
    b.one_recurrent_step = c.one_step;
    const uint32_t x = b.add_input(c.width());
    RecurrentOptions o;
    o.masked = c.masked;
    o.cell = c.cell;
    o.hidden = c.hidden;
    o.bidirectional = bidirectional;
    o.initial_state = true;
    if (extra && c.cell == Cell::kLstm) o.peephole = o.input_forget = true;
    const bool norms = c.cell == Cell::kLstmNorm;
    if (extra) norms ? void(o.by_gate = o.joint = o.keeps_c = true) : void(o.clip = 0.75);
    b.add_output(b.add_recurrent(x, c.input, o));
    std::vector<uint8_t> bytes = b.build();
    layer_ = b.recurrent[0];
    return bytes;
  }
  CudaOptions options(uint32_t kernels = 0, uint32_t batch = 0) const {
    CudaOptions o;
    o.batch = batch != 0 ? batch : GetParam().batch;
    o.sms = GetParam().sms;
    o.weights = GetParam().weights;
    o.kernels = kernels;
    if (GetParam().cluster && kernels != RNNP_CUDA_STEPS) o.kernels = RNNP_CUDA_CLUSTER | RNNP_CUDA_RESIDENT;
    if (GetParam().cluster) o.arch = kClusterArch;
    return o;
  }
  std::vector<float> x(size_t steps, uint32_t batch = 0) const {
    const size_t width = GetParam().width();
    std::vector<float> x = random_floats(steps * (batch != 0 ? batch : GetParam().batch) * width, 11);
    for (size_t i = width - 1; GetParam().masked && i < x.size(); i += width) x[i] = std::max(x[i], 0.0f);
    return x;
  }
  void expect_near(const std::vector<float> &got, const std::vector<float> &in, size_t steps,
                   const std::vector<int32_t> &lengths = {}) {
    const RecurrentResult want = run_recurrent(layer_, std::vector<double>(in.begin(), in.end()), steps, GetParam().batch, lengths);
    ASSERT_EQ(got.size(), want.y.size());
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const double error = std::fabs(static_cast<double>(got[i]) - want.y[i]);
      worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
    }
    EXPECT_LE(worst, GetParam().bound);
  }
  RecurrentLayer layer_;
};

TEST_P(CudaInvariants, BothKernelsAreNearTheDoubleReferenceAndHaveTheSameBits) {
  constexpr size_t kSteps = 6;
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> in = x(kSteps);
  CudaRunner resident(bytes, options(RNNP_CUDA_RESIDENT)), steps(bytes, options(RNNP_CUDA_STEPS));
  const uint32_t kind = GetParam().cluster ? RNNP_CUDA_CLUSTER : GetParam().resident ? RNNP_CUDA_RESIDENT : RNNP_CUDA_STEPS;
  ASSERT_EQ(resident.layer().kernel, kind) << resident.layer().reason;
  ASSERT_EQ(resident.layer().blocks == 1, GetParam().alone) << resident.layer().reason;
  ASSERT_EQ(steps.layer().kernel, RNNP_CUDA_STEPS);
  const std::vector<float> y = resident.run(in);
  expect_near(y, in, kSteps);
  EXPECT_EQ(y, steps.run(in));
  for (uint32_t row = 0; row < GetParam().batch; ++row) EXPECT_EQ(resident.save(row), steps.save(row));
}

TEST_P(CudaInvariants, GivesTheSameBitsHoweverAStreamIsCut) {
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> in = x(7);
  CudaRunner whole(bytes, options());
  const std::vector<float> want = whole.run(in);
  for (const size_t cut : {size_t{1}, size_t{3}}) {
    CudaRunner pieces(bytes, options());
    EXPECT_EQ(want, pieces.run(in, cut)) << cut;
    EXPECT_EQ(whole.save(0), pieces.save(0)) << cut;
  }
  CudaOptions chunks = options();
  chunks.chunk = 5;
  chunks.launch_steps = 2;  // pieces of 2, 2, 1, 2
  CudaRunner pieces(bytes, chunks);
  EXPECT_EQ(pieces.layer().steps_per_launch, GetParam().resident ? 2u : 1u);
  EXPECT_EQ(want, pieces.run(in));
}

TEST_P(CudaInvariants, ARowHasTheBitsOfAStreamAlone) {
  const uint32_t batch = GetParam().batch;
  const size_t elems = GetParam().width(), out = GetParam().hidden;
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> in = x(4);
  CudaRunner together(bytes, options()), alone(bytes, options(0, 1));
  const std::vector<float> y = together.run(in);
  std::vector<float> own, want;
  for (size_t t = 0; t < 4; ++t) {
    const size_t at = t * batch + batch - 1;
    own.insert(own.end(), in.begin() + static_cast<ptrdiff_t>(at * elems), in.begin() + static_cast<ptrdiff_t>((at + 1) * elems));
    want.insert(want.end(), y.begin() + static_cast<ptrdiff_t>(at * out), y.begin() + static_cast<ptrdiff_t>((at + 1) * out));
  }
  EXPECT_EQ(want, alone.run(own));
}

TEST_P(CudaInvariants, RowsEndAtTheirLengthsInBothDirections) {
  constexpr size_t kSteps = 5;
  const uint32_t batch = GetParam().batch;
  const std::vector<uint8_t> bytes = blob(true);
  const std::vector<float> in = x(kSteps);
  std::vector<int32_t> lengths(batch);
  for (uint32_t i = 0; i < batch; ++i) lengths[i] = static_cast<int32_t>((i * 3 + 2) % (kSteps + 1));
  CudaOptions o = options(), few = options(), by_steps = options(RNNP_CUDA_STEPS);
  o.max_steps = few.max_steps = by_steps.max_steps = kSteps;
  few.launch_steps = 2;
  CudaRunner whole(bytes, o), pieces(bytes, few), steps(bytes, by_steps);
  const std::vector<float> y = whole.run_rows(in, batch, lengths.data());
  expect_near(y, in, kSteps, lengths);
  EXPECT_EQ(y, pieces.run_rows(in, batch, lengths.data()));
  EXPECT_EQ(y, steps.run_rows(in, batch, lengths.data()));
  for (uint32_t row = 0; row < batch; ++row) EXPECT_EQ(whole.save(row), steps.save(row));
}

// Of dense f32 and f16 they are resident too.
TEST_P(CudaInvariants, OtherRulesThanTheDefaultOnesHaveTheSameBits) {
  constexpr size_t kSteps = 3;
  const std::vector<uint8_t> bytes = blob(false, true);
  const std::vector<float> in = x(kSteps);
  const Case &c = GetParam();
  const bool resident = c.resident && c.r == kF32 && c.block_units == 0 && c.weights != RNNP_CUDA_BF16;
  CudaRunner runner(bytes, options()), steps(bytes, options(RNNP_CUDA_STEPS));
  EXPECT_EQ(runner.layer().kernel, resident ? RNNP_CUDA_RESIDENT : RNNP_CUDA_STEPS) << runner.layer().reason;
  const std::vector<float> y = runner.run(in);
  expect_near(y, in, kSteps);
  EXPECT_EQ(y, steps.run(in));
}

TEST_P(CudaInvariants, AStreamMovesFromTheCpuToTheGpuAndBack) {
  const Case &c = GetParam();
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> in = random_floats(9 * c.width(), 5);
  const auto part = [&](size_t first) {
    const auto at = in.begin() + static_cast<ptrdiff_t>(first * c.width());
    return std::vector<float>(at, at + 3 * static_cast<ptrdiff_t>(c.width()));
  };
  Runner cpu(bytes), all(bytes);
  CudaRunner gpu(bytes, options(0, 2));
  std::vector<float> y = cpu.run(part(0));
  gpu.load(1, cpu.save(0));
  EXPECT_EQ(gpu.save(1), cpu.save(0));
  const uint32_t row = 1;
  const std::vector<float> middle = gpu.run_rows(part(3), 1, nullptr, &row);
  y.insert(y.end(), middle.begin(), middle.end());
  cpu.load(0, gpu.save(1));
  const std::vector<float> last = cpu.run(part(6));
  y.insert(y.end(), last.begin(), last.end());
  const std::vector<float> want = all.run(in);
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want[i], 2 * c.bound) << i;
}

INSTANTIATE_TEST_SUITE_P(Layers, CudaInvariants, testing::ValuesIn(kCases),
                         [](const auto &param) { return std::string(param.param.name); });

}  // namespace cuda_invariants_test
}  // namespace rnnp_test
