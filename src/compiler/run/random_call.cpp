// random_call.cpp -- Contract: random_call.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/run/random_call.h"

#include <cmath>
#include <limits>

#include "compiler/emit/refusal_text.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {

RandomCall::RandomCall(const rnnp_model &model, size_t steps, uint32_t batch) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  check(rnnp_model_get_info(&model, &facts), "rnnp_model_get_info");
  io_.steps = steps;
  io_.batch = batch;
  for (uint32_t i = 0; i < facts.input_count; ++i) inputs_.push_back({add(model, rnnp_model_get_input, i), 0, 0});
  for (uint32_t i = 0; i < facts.output_count; ++i) outputs_.push_back({add(model, rnnp_model_get_output, i), 0, 0});
  io_.input_count = facts.input_count;
  io_.output_count = facts.output_count;
  io_.inputs = inputs_.data();
  io_.outputs = outputs_.data();
  first_output_ = storage_.size() - facts.output_count;
}

std::vector<uint8_t> RandomCall::results() const {
  std::vector<uint8_t> bytes;
  for (size_t i = first_output_; i < storage_.size(); ++i) {
    std::vector<float> numbers = storage_[i];
    for (float &v : numbers) v = std::isnan(v) ? std::numeric_limits<float>::quiet_NaN() : v;
    const auto *from = reinterpret_cast<const uint8_t *>(numbers.data());
    bytes.insert(bytes.end(), from, from + numbers.size() * sizeof(float));
  }
  return bytes;
}

float *RandomCall::add(const rnnp_model &model, rnnp_status (*ask)(const rnnp_model *, uint32_t, rnnp_tensor_info *),
                       uint32_t index) {
  rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
  check(ask(&model, index, &facts), "a tensor");
  const bool left_out = facts.role == RNNP_ROLE_STATE || facts.role == RNNP_ROLE_LENGTHS;
  const size_t rows = facts.role == RNNP_ROLE_SEQUENCE ? io_.steps * io_.batch : io_.batch;
  storage_.emplace_back(left_out ? 0 : rows * facts.row_elems, 0.0f);
  std::uniform_real_distribution<float> uniform(-1, 1);
  if (facts.dtype == RNNP_DTYPE_F32)
    for (float &v : storage_.back()) v = uniform(random_);
  return left_out ? nullptr : storage_.back().data();
}

}  // namespace rnnp::compiler
