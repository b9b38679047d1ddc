// check_on_gpu.cpp -- check_case by CUDA sessions, with the CPU's tolerances. Contract: conformance_case.h.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "conformance_case.h"
#include "cuda/cuda_runner.h"

namespace rnnp::conformance {

using namespace rnnp::compiler;

namespace {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Gpu : public Backend {
 public:
  Gpu(const std::vector<uint8_t> &blob, const rnnp_model &model) : blob_(blob), model_(model) {}

  void open(const rnnp_session_options &options) override {
    const rnnp_cuda_device device = rnnp_test::small_device(4);
    rnnp_cuda_options o = RNNP_CUDA_OPTIONS_INIT;
    o.max_batch = options.max_batch;
    o.max_steps = options.max_steps;
    o.device = &device;
    rnnp_refusal why = RNNP_REFUSAL_INIT;
    if (rnnp_cuda_session_explain(&model_, &o, &why) != RNNP_OK) throw Refused(std::string(why.op) + ": " + why.reason);
    rnnp_test::CudaOptions options_of_runner;
    options_of_runner.batch = options.max_batch;
    options_of_runner.max_steps = options.max_steps;
    runner_ = std::make_unique<rnnp_test::CudaRunner>(blob_, options_of_runner);
  }

  rnnp_status run(const rnnp_io &io) override {
    const rnnp_status status = rnnp_cuda_run_io(runner_->session(), &io, nullptr);
    return status != RNNP_OK ? status : rnnp_cuda_wait(runner_->session(), nullptr);
  }

 private:
  const std::vector<uint8_t> &blob_;
  const rnnp_model &model_;
  std::unique_ptr<rnnp_test::CudaRunner> runner_;
};

// Empty when the GPU has a kernel for every node.
std::string refusal_of(const Case &c) {
  const std::vector<uint8_t> blob = compile_model(*check_model(c.model), "generic").blob;
  Runner runner(blob);
  Gpu gpu(blob, runner.opened());
  RunOptions options;
  options.backend = &gpu;
  try {
    compare_outputs("whole", runner.run(c.inputs, options), c);
    if (!runner.facts().causal) return "";
    options.steps_per_call = 1;
    compare_outputs("step by step", runner.run(c.inputs, options), c);
  } catch (const Refused &refused) {
    return refused.what();
  }
  return "";
}

}  // namespace

void check_case(const Case &c) {
  try {
    check_listed("gpu", testing::UnitTest::GetInstance()->current_test_info()->name(), refusal_of(c));
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace rnnp::conformance
