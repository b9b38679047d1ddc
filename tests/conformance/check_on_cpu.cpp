// check_on_cpu.cpp -- check_case by sessions of the library. Contract: conformance_case.h.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "conformance_case.h"

namespace rnnp::conformance {

using namespace rnnp::compiler;

void check_case(const Case &c) {
  try {
    const auto model = check_model(c.model);
    check_evaluation(*model, c);
    uint64_t id = 0;
    for (const char *target : {"generic", "cortex-m"}) {
      Runner runner(compile_model(*model, target).blob);
      EXPECT_TRUE(id == 0 || id == runner.facts().model_id) << "the model id depends on the target";
      id = runner.facts().model_id;
      RunOptions options;
      compare_outputs(std::string(target) + " whole", runner.run(c.inputs, options), c);
      options.isa_allowed = RNNP_ISA_REFERENCE_ONLY;
      compare_outputs(std::string(target) + " reference", runner.run(c.inputs, options), c);
      if (!runner.facts().causal) continue;
      options.isa_allowed = 0;
      options.steps_per_call = 1;
      compare_outputs(std::string(target) + " step by step", runner.run(c.inputs, options), c);
    }
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace rnnp::conformance
