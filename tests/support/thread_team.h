// thread_team.h -- an rnnp_executor on std::thread: threads that are made once and run the tasks of every region at the same time.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_THREAD_TEAM_H_
#define RNNPACK_TESTS_SUPPORT_THREAD_TEAM_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp_test {

class ThreadTeam {
 public:
  explicit ThreadTeam(uint32_t threads) : executor_{sizeof(rnnp_executor), threads, this, parallel, wait} {
    for (uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;
  ~ThreadTeam() {
    announce(nullptr, nullptr);
    for (std::thread &t : workers_) t.join();
  }

  const rnnp_executor *executor() const { return &executor_; }

 private:
  using Task = void (*)(void *arg, uint32_t thread);

  static void parallel(void *ctx, Task task, void *arg) {
    ThreadTeam &team = *static_cast<ThreadTeam *>(ctx);
    team.announce(task, arg);
    task(arg, 0);
    std::unique_lock<std::mutex> lock(team.mutex_);
    team.done_.wait(lock, [&] { return team.running_ == 0; });
  }

  static void wait(void *, uint32_t times) {
    if (times < 32) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  // A task of nullptr ends the threads.
  void announce(Task task, void *arg) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      task_ = task;
      arg_ = arg;
      running_ = workers_.size();
      ++region_;
    }
    wake_.notify_all();
  }

  void work(uint32_t thread) {
    for (uint64_t seen = 0;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return region_ != seen; });
      seen = region_;
      const Task task = task_;
      void *const arg = arg_;
      lock.unlock();
      if (task == nullptr) return;
      task(arg, thread);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  rnnp_executor executor_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Task task_ = nullptr;
  void *arg_ = nullptr;
  size_t running_ = 0;
  uint64_t region_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_THREAD_TEAM_H_
