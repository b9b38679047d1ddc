// act_plain_test.cpp -- the rows with four activations alone give what the rows with all activations give, bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernel_support.h"

namespace rnnp {
namespace {

TEST(ActPlain, GivesTheBitsOfTheRowWithAllActivations) {
  std::vector<float> x;
  for (int i = -400; i <= 400; ++i) x.push_back(static_cast<float>(i) * 0.037f);
  for (float special : {0.0f, -0.0f, 1e-40f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN}) x.push_back(special);
  for (const Kernel *plain : kernels_of({KernelFamily::kActPlain})) {
    if (!cpu_runs(*plain)) continue;
    const Kernel *all = find_kernel(kAllKernels, KernelFamily::kAct, DType::kF32, 0, plain->isa);
    for (Act act : {Act::kIdentity, Act::kRelu, Act::kTanh, Act::kSigmoid}) {
      std::vector<float> a(x.size()), b(x.size());
      const ActArgs for_plain = {x.data(), a.data(), x.size(), {uint32_t(act), 0, 0}};
      const ActArgs for_all = {x.data(), b.data(), x.size(), {uint32_t(act), 0, 0}};
      plain->act(&for_plain);
      all->act(&for_all);
      EXPECT_TRUE(same_bits(a, b)) << plain->name << " " << uint32_t(act);
    }
  }
}

}  // namespace
}  // namespace rnnp
