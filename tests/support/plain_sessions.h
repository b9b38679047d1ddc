// plain_sessions.h -- checker of a walk: each stream's bits against a plain session of its own, which runs one row, one thread, one
// step a chunk, packed tensors. So whatever a call does with rows, strides, chunks, threads, pipelines and lengths must not be
// seen in the bits, of outputs and of states. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_PLAIN_SESSIONS_H_
#define RNNPACK_TESTS_SUPPORT_PLAIN_SESSIONS_H_

#include <memory>

#include "support/session_fixture.h"
#include "support/walk.h"

namespace rnnp_test {

class PlainSessions : public Checker {
 public:
  PlainSessions(const rnnp_model *model, uint32_t seed, const WalkRules &rules);

  void fill(const Call &call, size_t input, size_t row, size_t step, uint32_t *words) override;
  void called(const Call &call) override;
  void reset(size_t stream) override;
  void copied(size_t from, size_t to) override;
  void state(size_t stream, const std::vector<uint8_t> &saved) override;

 private:
  void run(const Call &call, size_t row);
  void compare(const Call &call, size_t row) const;

  rnnp_fuzz::ByteSource numbers_;
  std::vector<std::unique_ptr<Runner>> plain_;
  std::vector<rnnp_tensor_info> inputs_, outputs_;
  std::vector<std::vector<std::vector<uint32_t>>> given_;  // [row of the call][input], packed
  std::vector<std::vector<float>> want_;                   // of one row, packed; per output
};

// What a walk of so many actions found wrong, or nothing. `team`: of as many threads as its sessions may use; nullptr for none.
std::string walk_beside_plain(const rnnp_model *model, uint32_t seed, const ThreadTeam *team, uint32_t actions);

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_PLAIN_SESSIONS_H_
