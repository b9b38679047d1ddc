// both_sessions.h -- one model as a CPU session and as a CUDA session, given the same calls on made-up tensors.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CUDA_BOTH_SESSIONS_H_
#define RNNPACK_TESTS_CUDA_BOTH_SESSIONS_H_

#include <gtest/gtest.h>

#include <cmath>

#include "cuda/cuda_runner.h"

namespace rnnp_test {

class BothSessions {
 public:
  BothSessions(const std::vector<uint8_t> &blob, uint32_t batch, uint32_t max_steps, uint32_t weights = RNNP_CUDA_F32)
      : cpu_(blob, cpu_options(batch, max_steps)), gpu_(blob, cuda_options(batch, max_steps, weights)) {}

  CudaRunner &gpu() { return gpu_; }
  Runner &cpu() { return cpu_; }

  // A call of both; every element of every output within `bound` of the other's, relative to the larger of 1 and it.
  void expect_same(size_t steps, uint32_t batch, const int32_t *lengths, const uint32_t *rows, uint32_t flags, std::mt19937 *random,
                   double bound) {
    const uint32_t ins = gpu_.inputs(), outs = gpu_.outputs();
    std::vector<std::unique_ptr<SharedArray<uint32_t>>> x, want, got;
    std::vector<rnnp_const_buffer> in(ins);
    std::vector<rnnp_buffer> cpu_out(outs), gpu_out(outs);
    for (uint32_t i = 0; i < ins; ++i) {
      x.push_back(std::make_unique<SharedArray<uint32_t>>(tensor(i, steps, batch, random)));
      const bool left_out = facts(rnnp_model_get_input, i).role >= RNNP_ROLE_STATE && (*random)() % 2 != 0;
      in[i].data = left_out ? nullptr : x[i]->data();
    }
    for (uint32_t i = 0; i < outs; ++i) {
      const rnnp_tensor_info f = facts(rnnp_model_get_output, i);
      const bool sequence = f.role == RNNP_ROLE_SEQUENCE && !(flags & RNNP_RUN_LAST_STEP);
      const size_t count = (sequence ? steps : 1) * batch * f.row_elems;
      want.push_back(std::make_unique<SharedArray<uint32_t>>(count, 0xA5A5A5A5u));
      got.push_back(std::make_unique<SharedArray<uint32_t>>(count, 0xA5A5A5A5u));
      cpu_out[i].data = want[i]->data();
      gpu_out[i].data = got[i]->data();
    }
    rnnp_io io = RNNP_IO_INIT;
    io.flags = flags;
    io.batch = batch;
    io.steps = steps;
    io.input_count = ins;
    io.output_count = outs;
    io.lengths = lengths;
    io.rows = rows;
    io.inputs = in.data();
    io.outputs = cpu_out.data();
    const rnnp_status status = rnnp_run_io(cpu_.session(), &io);
    io.outputs = gpu_out.data();
    ASSERT_EQ(rnnp_cuda_run_io(gpu_.session(), &io, nullptr), status);
    ASSERT_EQ(rnnp_cuda_wait(gpu_.session(), nullptr), RNNP_OK);
    for (uint32_t i = 0; i < outs; ++i) expect_near(got[i]->vector(), want[i]->vector(), bound, i);
  }

 private:
  static Options cpu_options(uint32_t batch, uint32_t max_steps) {
    Options o;
    o.batch = batch;
    o.max_steps = max_steps;
    return o;
  }
  static CudaOptions cuda_options(uint32_t batch, uint32_t max_steps, uint32_t weights) {
    CudaOptions o;
    o.batch = batch;
    o.max_steps = max_steps;
    o.chunk = 3;
    o.weights = weights;
    return o;
  }
  template <class Ask>
  rnnp_tensor_info facts(Ask ask, uint32_t index) {
    rnnp_tensor_info f = RNNP_TENSOR_INFO_INIT;
    expect_ok(ask(gpu_.model(), index, &f), "facts");
    return f;
  }
  // Floats, or indices and lengths, as words.
  std::vector<uint32_t> tensor(uint32_t index, size_t steps, uint32_t batch, std::mt19937 *random) {
    const rnnp_tensor_info f = facts(rnnp_model_get_input, index);
    std::vector<uint32_t> v((f.role == RNNP_ROLE_SEQUENCE ? steps : 1) * batch * f.row_elems);
    for (uint32_t &word : v) {
      const float value = static_cast<float>((*random)() % 2001u) / 1000.0f - 1.0f;
      const int32_t limit = static_cast<int32_t>(f.limit);
      const int32_t number = f.role == RNNP_ROLE_LENGTHS ? static_cast<int32_t>((*random)() % (steps + 1))
                             : limit != 0                ? static_cast<int32_t>((*random)() % (2u * f.limit)) - limit
                                                         : 0;
      if (f.dtype == RNNP_DTYPE_I32) {
        std::memcpy(&word, &number, sizeof word);
      } else {
        std::memcpy(&word, &value, sizeof word);
      }
    }
    return v;
  }
  static void expect_near(const std::vector<uint32_t> &got, const std::vector<uint32_t> &want, double bound, uint32_t output) {
    for (size_t i = 0; i < got.size(); ++i) {
      float a, b;
      std::memcpy(&a, &got[i], sizeof a);
      std::memcpy(&b, &want[i], sizeof b);
      const double x = static_cast<double>(a), y = static_cast<double>(b);
      ASSERT_TRUE(got[i] == want[i] || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= bound * std::max(1.0, std::fabs(y)))
          << "output " << output << " element " << i << ": " << a << ", the CPU has " << b;
    }
  }

  Runner cpu_;
  CudaRunner gpu_;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_CUDA_BOTH_SESSIONS_H_
