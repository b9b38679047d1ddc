// recur_steps_test.cpp -- many steps of one row in one call of a recurrent row: the bits of as many calls.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernel_support.h"
#include "recur_oracle.h"

namespace rnnp {
namespace {

// The rows of `step` are the steps of one row, `together` of them a call. The last h, c and all y.
std::vector<float> run_steps(const Kernel &kernel, const Step &step, uint32_t together) {
  const StepOut out(step);
  const size_t padded = size_t{step.tiles} * step.nr, hidden = step.s.hidden;
  Rows h[2] = {Rows(1, padded, padded + 3), Rows(1, padded, padded + 3)};
  for (size_t n = 0; n < padded; ++n) h[0].at(0, n) = n < hidden ? step.h.at(0, n) : 0.0f;
  uint32_t live = 0;
  for (uint32_t first = 0; first < step.s.rows; first += together) {
    RecurArgs args = args_of(step, out, {first, 1, 0, step.tiles, false});
    args.steps = std::min(together, step.s.rows - first);
    args.h_prev = h[live].row(0);
    args.h_next = h[live ^ 1].row(0);
    args.c = out.c.row(0);
    kernel.recur(&args);
    live ^= args.steps & 1;
  }
  std::vector<float> results(h[live].row(0), h[live].row(0) + hidden);
  results.insert(results.end(), out.c.row(0), out.c.row(0) + hidden);
  for (uint32_t m = 0; m < step.s.rows && step.s.use_y; ++m) results.insert(results.end(), out.y.row(m), out.y.row(m) + hidden);
  EXPECT_TRUE(h[0].gaps_are_untouched() && h[1].gaps_are_untouched() && out.c.gaps_are_untouched() && out.y.gaps_are_untouched());
  return results;
}

class RecurStepsTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(RecurStepsTest, GivesTheSameBitsHoweverManyStepsGoTogether) {
  const Kernel &kernel = *GetParam();
  SKIP_UNLESS_CPU_RUNS(kernel);
  uint64_t seed = 1;
  for (uint32_t hidden : {1u, 4u, 5u, 8u, 9u, 13u, 16u, 17u, 24u, 25u, 32u, 33u, 45u, 64u, 150u})
    for (bool use_x : {false, true})
      for (bool use_y : {false, true}) {
        const Step step(kernel.family, kernel.nr, {13, 3, hidden, use_x, use_y, true}, false, seed++);
        const std::vector<float> alone = run_steps(kernel, step, 1);
        for (uint32_t together : {2u, 5u, 13u})
          ASSERT_TRUE(same_bits(alone, run_steps(kernel, step, together))) << hidden << ' ' << use_x << use_y << ' ' << together;
      }
}

std::vector<const Kernel *> kernels_of_steps() {
  std::vector<const Kernel *> out;
  for (uint32_t i = 0; i < kAllKernels.count; ++i)
    if (kAllKernels.rows[i]->runs_steps) out.push_back(kAllKernels.rows[i]);
  return out;
}

// A build of small kernels has none.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecurStepsTest);
INSTANTIATE_TEST_SUITE_P(All, RecurStepsTest, testing::ValuesIn(kernels_of_steps()), kernel_name);

}  // namespace
}  // namespace rnnp
