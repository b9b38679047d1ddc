// call_tensor.cpp -- see call_tensor.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/call_tensor.h"

#include <algorithm>

namespace rnnp_test {

bool CallTensor::place(const Shape &s, uint64_t most_bytes, WalkMemory *memory, rnnp_fuzz::ByteSource *choices) {
  rnnp_fuzz::ByteSource &c = *choices;
  if (uint64_t{s.elems} * 4 * (s.steps + 1) * (s.batch + 1) > most_bytes) return false;
  elems_ = s.elems;
  steps_ = s.sequence ? s.steps : 1;
  batch_ = s.batch;
  gap_ = s.gap;
  const size_t pad = !s.packed && c.once_in(2) ? c.range(1, 3) : 0;
  row_words_ = elems_ + pad;
  step_words_ = s.sequence ? row_words_ * batch_ + (!s.packed && c.once_in(3) ? c.range(1, 3) : 0) : 0;
  if (s.sequence && !s.packed && steps_ != 0 && c.once_in(3)) {  // all steps of a row together
    step_words_ = elems_ + pad;
    row_words_ = step_words_ * steps_ + c.below(2);
  }
  const bool dense_rows = row_words_ == elems_ && c.once_in(2);
  const bool dense_steps = step_words_ == row_words_ * batch_ && c.once_in(2);
  // A stride that is not used may be anything that is a row at least.
  const size_t step_stride = dense_steps ? 0 : s.sequence ? step_words_ : elems_ + c.below(9);
  count_ = steps_ == 0 ? 0 : (steps_ - 1) * step_words_ + (batch_ - 1) * row_words_ + elems_;
  const size_t bytes = std::max(count_, s.also_words) * sizeof(uint32_t);
  words_ = reinterpret_cast<uint32_t *>(memory->take(bytes, sizeof(uint32_t), c.once_in(2)));
  if (words_ == nullptr) return false;
  std::fill_n(words_, count_, gap_);
  buffer_ = {words_, step_stride * sizeof(float), dense_rows ? 0 : row_words_ * sizeof(float)};
  return true;
}

void CallTensor::place_on(const Shape &s, const CallTensor &other) {
  elems_ = row_words_ = s.elems;
  steps_ = s.sequence ? s.steps : 1;
  batch_ = s.batch;
  step_words_ = row_words_ * batch_;
  words_ = other.words_;
  buffer_ = {words_, 0, 0};
  shared_ = true;
}

bool CallTensor::untouched() const {
  return std::all_of(words_, words_ + count_, [this](uint32_t word) { return word == gap_; });
}

size_t CallTensor::strays() {
  for (size_t step = 0; step < steps_; ++step)
    for (size_t r = 0; r < batch_; ++r) std::fill_n(row(step, r), elems_, gap_);
  return count_ - static_cast<size_t>(std::count(words_, words_ + count_, gap_));
}

}  // namespace rnnp_test
