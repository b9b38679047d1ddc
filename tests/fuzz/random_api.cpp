// random_api.cpp -- see random_api.h.
// SPDX-License-Identifier: Apache-2.0
#define RNNP_NODISCARD  // refusals are what is tried
#include "random_api.h"

#include <cstring>

#include "guarded_memory.h"
#include "support/session_fixture.h"

namespace rnnp_fuzz {
namespace {

class AnyNumbers : public rnnp_test::Checker {
 public:
  AnyNumbers(const rnnp_model *model, ByteSource *choices) : model_(model), c_(*choices), seed_(c_.below(256)) {}

  // Indices and lengths lie within their limits, nearly always.
  void fill(const rnnp_test::Call &call, size_t input, size_t row, size_t step, uint32_t *words) override {
    rnnp_tensor_info f = RNNP_TENSOR_INFO_INIT;
    rnnp_test::expect_ok(rnnp_model_get_input(model_, static_cast<uint32_t>(input), &f), "input");
    if (row == 0 && step == 0) wild_ = c_.once_in(32);
    for (uint32_t i = 0; i < f.row_elems; ++i) {
      const uint32_t mixed = (seed_ += 4) * 2654435761u;
      const int32_t limit = static_cast<int32_t>(f.limit);
      int32_t number = 0;
      if (f.role == RNNP_ROLE_LENGTHS) {
        number = static_cast<int32_t>((mixed >> 8) % (call.steps + 1));
      } else if (f.dtype == RNNP_DTYPE_I32) {
        number = limit == 0 ? 0 : static_cast<int32_t>((mixed >> 8) % f.limit) - (mixed & 64 ? limit : 0);
      } else {
        const float real = static_cast<float>(static_cast<int32_t>(mixed)) / 1e9f;
        std::memcpy(&number, &real, sizeof number);
      }
      if (wild_ && (mixed & 0xf000) == 0) number = static_cast<int32_t>(c_.word());
      std::memcpy(words + i, &number, sizeof number);
    }
  }

 private:
  const rnnp_model *model_;
  ByteSource &c_;
  uint32_t seed_;
  bool wild_ = false;
};

bool open_model(const std::vector<uint8_t> &blob, ByteSource *choices, GuardedMemory *memory, rnnp_model *model) {
  ByteSource &c = *choices;
  uint8_t *at = blob.size() > GuardedMemory::kLarge ? nullptr : memory->take(blob.size(), 64, c.once_in(2));
  if (at == nullptr) return false;
  if (!blob.empty()) std::memcpy(at, blob.data(), blob.size());
  const uint32_t odd = c.below(64);
  if (odd == 1) rnnp_test::expect_refused(rnnp_model_open(nullptr, at, blob.size(), 0), "no model");
  if (odd == 2) rnnp_test::expect_refused(rnnp_model_open(model, nullptr, blob.size(), 0), "no blob");
  if (odd == 3) rnnp_model_open(model, at + 4, blob.size() < 4 ? 0 : blob.size() - 4, 0);
  if (odd == 4) rnnp_model_open(model, at, blob.size(), c.word());
  if (odd == 5) rnnp_model_open(model, at, blob.empty() ? 0 : c.below(static_cast<uint32_t>(blob.size())), 0);
  return rnnp_model_open(model, at, blob.size(), odd == 6 ? RNNP_OPEN_CHECK_WEIGHTS : 0u) == RNNP_OK;
}

}  // namespace

Walked walk(const std::vector<uint8_t> &blob, ByteSource *choices, bool threads) {
  static GuardedMemory memory;
  const GuardedMemory::Mark mark = memory.mark();
  rnnp_test::WalkRules rules;
  rules.streams = choices->of({1u, 1u, 2u, 3u, 5u});
  rules.most_steps = 6;
  rules.most_tensor_bytes = 32 << 10;
  rules.wild = true;
  if (threads) {
    static const rnnp_test::ThreadTeam teams[] = {rnnp_test::ThreadTeam(1), rnnp_test::ThreadTeam(2), rnnp_test::ThreadTeam(3),
                                                  rnnp_test::ThreadTeam(4)};
    rules.executors.resize(28, nullptr);
    for (const rnnp_test::ThreadTeam &team : teams) rules.executors.push_back(team.executor());
  }
  Walked result;
  rnnp_model model = {};
  result.opened = open_model(blob, choices, &memory, &model);
  if (result.opened) {
    AnyNumbers numbers(&model, choices);
    rnnp_test::Walk walk(&model, rules, choices, &memory, &numbers);
    result.made = walk.make();
    if (result.made) walk.go(choices->range(1, 6));
    result.ran = walk.ran();
  }
  memory.release(mark);
  return result;
}

}  // namespace rnnp_fuzz
