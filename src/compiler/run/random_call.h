// random_call.h -- the arguments of one rnnp_run_io: random inputs, those that may be left out are. For `tune` and `profile`.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_RANDOM_CALL_H_
#define RNNPACK_COMPILER_RUN_RANDOM_CALL_H_

#include <cstdint>
#include <random>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

class RandomCall {
 public:
  RandomCall(const rnnp_model &model, size_t steps, uint32_t batch);

  const rnnp_io *io() const { return &io_; }
  // All bytes of all outputs; one NaN is like another.
  std::vector<uint8_t> results() const;

 private:
  // Room for the tensor that *ask describes, filled with random numbers; nullptr for one that may be left out.
  float *add(const rnnp_model &model, rnnp_status (*ask)(const rnnp_model *, uint32_t, rnnp_tensor_info *), uint32_t index);

  std::mt19937 random_{1};
  std::vector<std::vector<float>> storage_;
  std::vector<rnnp_const_buffer> inputs_;
  std::vector<rnnp_buffer> outputs_;
  rnnp_io io_ = RNNP_IO_INIT;
  size_t first_output_ = 0;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_RANDOM_CALL_H_
