// walk.h -- a random walk over the API of one session, held against a plain session per row, bit for bit.
// The plain ones run one row, one thread, one step a chunk, packed tensors; so whatever a call of the walk does with rows, strides,
// chunks, threads, waves and lengths must not be seen in the bits. Every byte of an output that a call does not own must stay.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_WALK_H_
#define RNNPACK_TESTS_SUPPORT_WALK_H_

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/session_fixture.h"

namespace rnnp_test {

// What a model's inputs and outputs are, from the public header.
struct Port {
  uint32_t role, elems, dtype, limit;
};

// One tensor of a call, with any strides that the API allows, in memory of its own that ends with its last row.
class Tensor {
 public:
  // `gap`: what lies between rows.
  Tensor(const Port &port, size_t steps, uint32_t batch, bool sequence, uint32_t gap, std::mt19937 &random);
  uint32_t *row(size_t step, uint32_t row) { return words_.data() + step * step_words_ + row * row_words_; }
  const rnnp_buffer &buffer() const { return buffer_; }
  // Words that are in no row and are no longer `gap`.
  size_t strays();

 private:
  uint32_t elems_, batch_, gap_;
  size_t steps_, step_words_, row_words_;
  std::vector<uint32_t> words_;
  rnnp_buffer buffer_;
};

class Walk {
 public:
  // `team`: of as many threads as the session may use; nullptr for none.
  Walk(const rnnp_model *model, uint32_t seed, ThreadTeam *team);
  // What went wrong, or nothing.
  std::string go(uint32_t calls);

 private:
  struct Given;
  std::string act();
  std::string run_io();
  std::string run_simple(bool step);
  std::string move_state();
  std::string refuse();
  std::string compare_states();
  void plain_run(Given *given, uint32_t slot, uint32_t row);
  std::string compare(Given &given, uint32_t slot, uint32_t row);
  size_t some_steps();
  std::vector<uint32_t> some_rows(uint32_t count);

  std::mt19937 random_;
  uint32_t batch_;
  std::unique_ptr<Runner> session_;
  std::vector<std::unique_ptr<Runner>> plain_;  // one per row
  std::vector<Port> inputs_, outputs_;
  bool causal_ = false, simple_ = false, in_place_ = false;
  uint32_t x_ = 0;                // the input that must be given
  uint32_t wavefront_steps_ = 0;  // calls so long go as a wave; 0: none does
  std::string done_;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_WALK_H_
