// thread_pool.h -- executors of one to four threads that are made once, as an application has them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_THREAD_POOL_H_
#define RNNPACK_TESTS_FUZZ_THREAD_POOL_H_

#include "support/thread_team.h"

namespace rnnp_fuzz {

class ThreadPool {
 public:
  static constexpr uint32_t kMost = 4;

  rnnp_executor executor(uint32_t threads) const { return *teams_[threads - 1].executor(); }

 private:
  rnnp_test::ThreadTeam teams_[kMost]{rnnp_test::ThreadTeam(1), rnnp_test::ThreadTeam(2), rnnp_test::ThreadTeam(3),
                                      rnnp_test::ThreadTeam(4)};
};

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_THREAD_POOL_H_
