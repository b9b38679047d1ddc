// thread_team.h -- the library's own threads as an object. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_THREAD_TEAM_H_
#define RNNPACK_TESTS_SUPPORT_THREAD_TEAM_H_

#include <stdexcept>
#include <vector>

#include "rnnpack/threads.h"

namespace rnnp_test {

class ThreadTeam {
 public:
  explicit ThreadTeam(uint32_t threads) : storage_(RNNP_THREADS_BYTES(threads) + kAlign) {
    const size_t past = reinterpret_cast<uintptr_t>(storage_.data()) % kAlign;
    if (rnnp_threads_start(&executor_, threads, nullptr, storage_.data() + (kAlign - past), RNNP_THREADS_BYTES(threads)) != RNNP_OK)
      throw std::runtime_error("no threads");
  }
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;
  ~ThreadTeam() { rnnp_threads_stop(&executor_); }

  const rnnp_executor *executor() const { return &executor_; }

 private:
  static constexpr size_t kAlign = 64;
  std::vector<uint8_t> storage_;
  rnnp_executor executor_ = RNNP_EXECUTOR_INIT;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_THREAD_TEAM_H_
