// recur_test.cpp -- the recurrent rows: against f64, exact where activations are linear, the same bits however the step is cut.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernel_support.h"
#include "recur_oracle.h"

namespace rnnp {
namespace recur_test {

std::vector<const Kernel *> recurrent_kernels() {
  return kernels_of({KernelFamily::kRnnTanh, KernelFamily::kRnnRelu, KernelFamily::kRnnGeneric, KernelFamily::kLstm,
                     KernelFamily::kLstmGeneric, KernelFamily::kGruLinear, KernelFamily::kGruLinearGeneric, KernelFamily::kGruGates,
                     KernelFamily::kGruGatesGeneric, KernelFamily::kGruOutput, KernelFamily::kGruOutputGeneric});
}

std::vector<StepShape> shapes() {
  std::vector<StepShape> out;
  Random random(3);
  for (uint32_t hidden = 1; hidden <= 79; hidden += 3)
    out.push_back(
        {1 + random.below(9), 1 + random.below(40), hidden, random.below(2) == 0, random.below(3) != 0, random.below(2) == 0});
  for (uint32_t rows = 1; rows <= 17; ++rows) out.push_back({rows, 5, 50, rows % 2 == 0, true, true});
  for (uint32_t hidden : {16u, 32u, 144u, 200u}) out.push_back({1, 17, hidden, hidden == 144, true, false});
  return out;
}

class RecurTest : public testing::TestWithParam<const Kernel *> {
 protected:
  const Kernel &kernel() const { return *GetParam(); }
  template <class Check>
  void for_each_step(bool integers, Check check) {
    uint64_t seed = integers ? 1 : 1000;
    for (const StepShape &s : shapes()) {
      const Step step(kernel().family, kernel().nr, s, integers, seed++);
      SCOPED_TRACE(testing::Message() << "rows " << s.rows << " input " << s.input << " hidden " << s.hidden << " x " << s.use_x);
      check(step);
      if (HasFatalFailure()) return;
    }
  }
};

void expect_oracle(const Kernel &kernel, const Step &step) {
  const StepOut out = run_step(kernel, step);
  const std::vector<float> got = out.results(step);
  const Expected want = oracle(step);
  ASSERT_EQ(got.size(), want.value.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want.value[i], want.bound[i]) << "element " << i;
  ASSERT_TRUE(out.h.gaps_are_untouched() && out.c.gaps_are_untouched() && out.y.gaps_are_untouched());
  ASSERT_TRUE(out.z.gaps_are_untouched() && out.rh.gaps_are_untouched());
}

TEST_P(RecurTest, StaysWithinTheBoundOfItsSums) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  for_each_step(false, [&](const Step &step) { expect_oracle(kernel(), step); });
}

class GenericRecurTest : public RecurTest {};
class ReluRecurTest : public RecurTest {};
class SaturatingRecurTest : public RecurTest {};
class FusedRecurTest : public RecurTest {};

std::vector<const Kernel *> recurrent_kernels_where(bool (*wanted)(const Kernel &)) {
  std::vector<const Kernel *> out;
  for (const Kernel *kernel : recurrent_kernels())
    if (wanted(*kernel)) out.push_back(kernel);
  return out;
}

bool is_relu(const Kernel &kernel) {
  return kernel.family == KernelFamily::kRnnRelu;
}

TEST_P(GenericRecurTest, ObeysClipInputForgetAndActivations) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  uint32_t turn = 0;
  for_each_step(false, [&](const Step &made) {
    Step step(made.family, made.nr, made.s, false, 50 + turn);
    step.cell.clip = turn % 2 ? 0.75f : 0.0f;
    step.cell.input_forget = turn % 3 == 1;
    if (turn % 4 == 2) step.cell.act[0] = {uint32_t(Act::kHardSigmoid), 0.2f, 0.5f};
    if (turn % 4 == 3) step.cell.act[1] = {uint32_t(Act::kSoftsign), 0.0f, 0.0f};
    if (turn % 5 == 4) step.cell.act[2] = {uint32_t(Act::kAffine), 0.5f, 0.25f};
    ++turn;
    expect_oracle(kernel(), step);
  });
}

TEST_P(GenericRecurTest, IsExactOnIntegersWithLinearActivations) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  const Kernel &ref = *reference_of(kernel());
  for_each_step(true, [&](const Step &made) {
    Step step(made.family, made.nr, {made.s.rows, made.s.input % 9 + 1, made.s.hidden, made.s.use_x, true, made.s.peephole}, true,
              9);
    // Every value stays a small multiple of a power of two: all orders of summing give the same float.
    step.cell.act[0] = {uint32_t(Act::kHardSigmoid), 0.25f, 0.5f};
    step.cell.act[1] = {uint32_t(Act::kClip), -4.0f, 4.0f};
    step.cell.act[2] = {uint32_t(Act::kAffine), 0.5f, 0.25f};
    ASSERT_TRUE(same_bits(run_step(kernel(), step).results(step), run_step(ref, step).results(step)));
  });
}

TEST_P(ReluRecurTest, IsExactOnIntegers) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  for_each_step(true, [&](const Step &step) {
    ASSERT_TRUE(same_bits(run_step(kernel(), step).results(step), run_step(*reference_of(kernel()), step).results(step)));
  });
}

TEST_P(RecurTest, GivesTheSameBitsHoweverRowsAndTilesAreCut) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  Random random(11);
  for_each_step(false, [&](const Step &step) {
    const StepOut whole = run_step(kernel(), step), cut(step);
    cut_at_random(step.s.rows, step.tiles, &random, [&](uint32_t row, uint32_t rows, uint32_t tile, uint32_t end) {
      run_step(kernel(), step, cut, {row, rows, tile, end, random.below(2) == 0});
    });
    ASSERT_TRUE(same_bits(whole.results(step), cut.results(step)));
  });
}

TEST_P(RecurTest, GivesTheSameBitsWherePanelsAreFar) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  for (uint32_t rows : {1u, 13u, 22u}) {  // 13 and 22 ask at every, every other or every fourth k
    const Step step(kernel().family, kernel().nr, {rows, 4, 541, false, true, false}, false, 6);  // a panel fills L1
    const StepOut near = run_step(kernel(), step);
    for (bool descending : {false, true}) {
      const StepOut far(step);
      run_step(kernel(), step, far, {0, rows, 0, step.tiles, descending, true});
      ASSERT_TRUE(same_bits(near.results(step), far.results(step)));
    }
  }
}

// What low precision rests on: cells apart from products are the same step.
TEST_P(RecurTest, GivesTheSameBitsWhereAGemmMultipliesByR) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  const Kernel &gemm = *find_kernel(kAllKernels, KernelFamily::kGemm, DType::kF32, kernel().nr, kernel().isa);
  for_each_step(false, [&](const Step &made) {
    const Step step(made.family, made.nr, {made.s.rows, made.s.input, made.s.hidden, false, true, made.s.peephole}, false, 77);
    ASSERT_TRUE(same_bits(run_step(kernel(), step).results(step), run_apart(kernel(), gemm, step).results(step)));
  });
}

TEST_P(RecurTest, TouchesOnlyItsTiles) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  const Step step(kernel().family, kernel().nr, {3, 4, 77, false, true, false}, false, 5);
  const StepOut out(step);
  run_step(kernel(), step, out, {1, 1, 1, 3, true});
  for (const Rows *rows : {&out.h, &out.z, &out.rh, &out.y})
    for (size_t m = 0; m < 3; ++m)
      for (size_t n = 0; n < rows->cols(); ++n)
        if (m != 1 || n < kernel().nr || n >= 3 * kernel().nr) {
          ASSERT_TRUE(std::isnan(rows->at(m, n))) << m << ' ' << n;
        }
}

TEST_P(FusedRecurTest, AgreesBitForBitWithOtherFusedRows) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  const std::vector<const Kernel *> peers = fused_peers(kernel());
  if (peers.empty()) GTEST_SKIP() << kernel().name << ": this CPU lacks the isa bits of all its peers";
  for (const Kernel *other : peers) {
    for_each_step(false, [&](const Step &step) {
      ASSERT_TRUE(same_bits(run_step(kernel(), step).results(step), run_step(*other, step).results(step))) << other->name;
    });
  }
}

TEST_P(SaturatingRecurTest, SaturatedGatesStayFinite) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  Step step(kernel().family, kernel().nr, {2, 3, 40, false, true, false}, false, 8);
  for (float size : {50.0f, 1e4f, 1e30f})
    for (uint32_t signs = 0; signs < 16; ++signs) {
      for (size_t m = 0; m < 2; ++m)
        for (size_t n = 0; n < step.preact.cols(); ++n)
          step.preact.at(m, n) = (signs >> (n / step.nr % step.gates)) & 1 ? size : -size;
      expect_oracle(kernel(), step);
    }
}

// Each suite has the rows that it applies to, and no others.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FusedRecurTest);
INSTANTIATE_TEST_SUITE_P(All, RecurTest, testing::ValuesIn(recurrent_kernels()), kernel_name);
INSTANTIATE_TEST_SUITE_P(All, GenericRecurTest,
                         testing::ValuesIn(recurrent_kernels_where([](const Kernel &k) { return is_generic(k.family); })),
                         kernel_name);
INSTANTIATE_TEST_SUITE_P(All, ReluRecurTest, testing::ValuesIn(recurrent_kernels_where(is_relu)), kernel_name);
INSTANTIATE_TEST_SUITE_P(All, SaturatingRecurTest,
                         testing::ValuesIn(recurrent_kernels_where([](const Kernel &k) { return !is_relu(k); })), kernel_name);
INSTANTIATE_TEST_SUITE_P(All, FusedRecurTest, testing::ValuesIn(with_fused_peers(recurrent_kernels())), kernel_name);

}  // namespace recur_test
}  // namespace rnnp
