// case_walk.cpp -- Contract: case_walk.h.
// SPDX-License-Identifier: Apache-2.0
#include "case_walk.h"

#include <algorithm>

#include "support/thread_team.h"

namespace rnnp::onnx_fuzz {
namespace {

using rnnp_test::Call;
using rnnp_test::kNoStream;

class PlainRun : public rnnp_test::Checker {
 public:
  PlainRun(const Network &network, const std::vector<Words> &expected, const std::vector<int32_t> &lengths)
      : network_(network), expected_(expected), lengths_(lengths), done_(network.batch()) {
    for (const rnnp_tensor_info &facts : network.inputs()) has_states_ = has_states_ || facts.role == RNNP_ROLE_STATE;
  }

  size_t steps_left(size_t stream) const override { return network_.steps() - done_[stream]; }
  // Initial states are given to all rows or none.
  bool together(size_t a, size_t b) const override { return !has_states_ || (done_[a] == 0) == (done_[b] == 0); }
  bool gives(const Call &call, size_t input, bool) const override {
    const auto first = std::find_if(call.streams.begin(), call.streams.end(), [](size_t s) { return s != kNoStream; });
    return network_.given(input) && (network_.inputs()[input].role != RNNP_ROLE_STATE || done_[*first] == 0);
  }
  std::vector<int32_t> lengths(const Call &call, rnnp_fuzz::ByteSource *) const override {
    std::vector<int32_t> left;
    for (size_t s : call.streams)
      if (!lengths_.empty()) left.push_back(left_of(lengths_[s], s, call.steps));
    return left;
  }

  void fill(const Call &call, size_t input, size_t row, size_t step, uint32_t *words) override {
    const rnnp_tensor_info &facts = network_.inputs()[input];
    const size_t s = call.streams[row];
    if (s == kNoStream) return std::fill_n(words, facts.row_elems, 0u), void();
    const size_t from = (network_.per_step(facts) ? done_[s] + step : 0) * network_.batch() + s;
    std::copy_n(network_.input_rows(input).data() + from * facts.row_elems, facts.row_elems, words);
    if (facts.role == RNNP_ROLE_LENGTHS) *words = static_cast<uint32_t>(left_of(static_cast<int32_t>(*words), s, call.steps));
  }

  void called(const Call &call) override {
    for (size_t row = 0; row < call.streams.size(); ++row)
      for (size_t i = 0; i < call.out.size() && call.streams[row] != kNoStream; ++i)
        if (call.out[i].given()) compare(call, i, row);
    for (size_t s : call.streams)
      if (s != kNoStream) done_[s] += call.steps;
  }

 private:
  int32_t left_of(int32_t length, size_t stream, size_t steps) const {
    return static_cast<int32_t>(std::clamp<int64_t>(length - static_cast<int64_t>(done_[stream]), 0, static_cast<int64_t>(steps)));
  }

  void compare(const Call &call, size_t output, size_t row) const {
    const rnnp_tensor_info &facts = network_.outputs()[output];
    const bool sequence = network_.per_step(facts);
    const size_t stream = call.streams[row], done = done_[stream];
    if (!sequence && done + call.steps != network_.steps()) return;
    for (size_t step = 0; step < (sequence && !call.last_step ? call.steps : 1); ++step) {
      const size_t at = !sequence ? 0 : call.last_step ? done + call.steps - 1 : done + step;
      const uint32_t *want = &expected_[output][(at * network_.batch() + stream) * facts.row_elems];
      if (!same_bits(call.out[output].row(step, row), want, facts.row_elems))
        throw Wrong(std::string("'") + facts.name + "' row " + std::to_string(stream) + " step " + std::to_string(at) +
                    ": other bits than the plain run");
    }
  }

  const Network &network_;
  const std::vector<Words> &expected_;
  const std::vector<int32_t> &lengths_;
  std::vector<size_t> done_;
  bool has_states_ = false;
};

}  // namespace

void walk_case(const Network &network, const std::vector<Words> &expected, const std::vector<int32_t> &lengths, uint32_t seed,
               bool serial) {
  static const rnnp_test::ThreadTeam two(2), three(3);
  rnnp_fuzz::ByteSource choices(uint64_t{seed});
  rnnp_test::WalkRules rules;
  rules.streams = network.batch();
  rules.most_steps = static_cast<uint32_t>(network.steps());
  rules.most_tensor_bytes = UINT32_MAX;
  rules.isa_allowed = network.isa_allowed;
  rules.flags = network.flags;
  if (!serial) rules.executors = {nullptr, nullptr, nullptr, two.executor(), two.executor(), three.executor()};
  rules.plain = lengths.empty();
  rules.last_step = lengths.empty() && !network.ends_rows();
  rules.endless = false;
  rnnp_test::HeapMemory memory;
  PlainRun checker(network, expected, lengths);
  rnnp_test::Walk walk(network.model(), rules, &choices, &memory, &checker);
  if (!walk.make()) throw Wrong("no session");
  walk.go(UINT32_MAX);
}

}  // namespace rnnp::onnx_fuzz
