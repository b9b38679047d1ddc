// plain_sessions.cpp -- see plain_sessions.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/plain_sessions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/buffers.h"

namespace rnnp_test {
namespace {

// A NaN's sign and payload may depend on rows: kernels of another vector width may serve more of them.
bool same_words(const void *want, const void *got, size_t words) {
  const auto *a = static_cast<const uint8_t *>(want), *b = static_cast<const uint8_t *>(got);
  for (size_t i = 0; i < words; ++i, a += sizeof(float), b += sizeof(float)) {
    float x, y;
    std::memcpy(&x, a, sizeof x), std::memcpy(&y, b, sizeof y);
    if (std::memcmp(a, b, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

size_t words_of(const rnnp_tensor_info &facts, size_t steps) {
  return facts.row_elems * (facts.role == RNNP_ROLE_SEQUENCE ? steps : 1);
}

}  // namespace

PlainSessions::PlainSessions(const rnnp_model *model, uint32_t seed, const WalkRules &rules) : numbers_(seed) {
  Options plain;
  plain.max_steps = rules.most_steps;
  plain.chunk = 1;
  for (size_t i = 0; i < rules.streams; ++i) plain_.push_back(std::make_unique<Runner>(model, plain));
  rnnp_model_info info = RNNP_MODEL_INFO_INIT;
  expect_ok(rnnp_model_get_info(model, &info), "info");
  inputs_.resize(info.input_count, RNNP_TENSOR_INFO_INIT);
  outputs_.resize(info.output_count, RNNP_TENSOR_INFO_INIT);
  for (uint32_t i = 0; i < info.input_count; ++i) expect_ok(rnnp_model_get_input(model, i, &inputs_[i]), "input");
  for (uint32_t i = 0; i < info.output_count; ++i) expect_ok(rnnp_model_get_output(model, i, &outputs_[i]), "output");
}

void PlainSessions::fill(const Call &call, size_t input, size_t row, size_t step, uint32_t *words) {
  const rnnp_tensor_info &f = inputs_[input];
  given_.resize(std::max(given_.size(), call.streams.size()), std::vector<std::vector<uint32_t>>(inputs_.size()));
  std::vector<uint32_t> &packed = given_[row][input];
  packed.resize(words_of(f, call.steps));
  for (uint32_t k = 0; k < f.row_elems; ++k) {
    const uint32_t number = numbers_.word();
    if (f.role == RNNP_ROLE_LENGTHS) {
      words[k] = number % (static_cast<uint32_t>(call.steps) + 1);
    } else if (f.limit != 0) {
      words[k] = number % (2 * f.limit) - f.limit;
    } else {
      const float real = static_cast<float>(number % 2001) * 1e-3f - 1.0f;
      std::memcpy(&words[k], &real, sizeof real);
    }
  }
  std::copy_n(words, f.row_elems, packed.data() + step * f.row_elems);
}

void PlainSessions::run(const Call &call, size_t row) {
  std::vector<rnnp_buffer> buffers;
  for (size_t i = 0; i < inputs_.size(); ++i) buffers.push_back({call.in[i].given() ? given_[row][i].data() : nullptr, 0, 0});
  want_.clear();
  for (const rnnp_tensor_info &f : outputs_) {
    want_.emplace_back(words_of(f, call.steps), -1.0f);
    buffers.push_back({want_.back().data(), 0, 0});
  }
  rnnp_io io = RNNP_IO_INIT;
  io.steps = call.steps;
  io.batch = 1;
  io.input_count = static_cast<uint32_t>(inputs_.size());
  io.output_count = static_cast<uint32_t>(outputs_.size());
  io.lengths = call.lengths.empty() ? nullptr : &call.lengths[row];
  io.inputs = as_inputs(buffers.data());
  io.outputs = buffers.data() + inputs_.size();
  expect_ok(rnnp_run_io(plain_[call.streams[row]]->session(), &io), "plain run");
}

void PlainSessions::compare(const Call &call, size_t row) const {
  size_t length = call.lengths.empty() ? call.steps : static_cast<size_t>(call.lengths[row]);
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (call.lengths.empty() && inputs_[i].role == RNNP_ROLE_LENGTHS && call.in[i].given()) length = given_[row][i][0];
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!call.out[i].given()) continue;
    const size_t elems = outputs_[i].row_elems;
    const bool sequence = outputs_[i].role == RNNP_ROLE_SEQUENCE, last = sequence && call.last_step;
    const std::vector<float> zeros(elems, 0.0f);
    for (size_t t = 0; t < (sequence && !last ? call.steps : 1); ++t) {
      const float *want = last && length == 0 ? zeros.data() : want_[i].data() + (last ? length - 1 : t) * elems;
      if (!same_words(want, call.out[i].row(t, row), elems))
        throw Wrong("output " + std::to_string(i) + " of stream " + std::to_string(call.streams[row]) + " at step " +
                    std::to_string(t));
    }
  }
}

void PlainSessions::called(const Call &call) {
  for (size_t row = 0; row < call.streams.size(); ++row) {
    if (call.streams[row] == kNoStream) continue;
    run(call, row);
    compare(call, row);
  }
}

void PlainSessions::reset(size_t stream) {
  expect_ok(rnnp_state_reset(plain_[stream]->session(), 0), "reset");
}

void PlainSessions::copied(size_t from, size_t to) {
  plain_[to]->load(0, plain_[from]->save(0));
}

void PlainSessions::state(size_t stream, const std::vector<uint8_t> &saved) {
  constexpr size_t kHeader = 24, kSum = 4;  // the header's last word is the sum over the elements
  const std::vector<uint8_t> want = plain_[stream]->save(0);
  if (want.size() != saved.size() || !std::equal(want.begin(), want.begin() + kHeader - kSum, saved.begin()) ||
      !same_words(want.data() + kHeader, saved.data() + kHeader, (want.size() - kHeader) / sizeof(float)))
    throw Wrong("state of stream " + std::to_string(stream));
}

std::string walk_beside_plain(const rnnp_model *model, uint32_t seed, const ThreadTeam *team, uint32_t actions) {
  rnnp_fuzz::ByteSource choices(uint64_t{seed});
  WalkRules rules;
  rules.streams = choices.range(1, 4);
  rules.executors = {team != nullptr ? team->executor() : nullptr};
  rules.states = true;
  HeapMemory memory;
  PlainSessions plain(model, seed, rules);
  Walk walk(model, rules, &choices, &memory, &plain);
  try {
    if (!walk.make()) return "no session";
    walk.go(actions);
  } catch (const std::exception &wrong) {
    return wrong.what();
  }
  return "";
}

}  // namespace rnnp_test
