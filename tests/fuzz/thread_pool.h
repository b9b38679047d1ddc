// thread_pool.h -- an executor on threads that are made once, as an application has them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_THREAD_POOL_H_
#define RNNPACK_TESTS_FUZZ_THREAD_POOL_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp_fuzz {

class ThreadPool {
 public:
  static constexpr uint32_t kMost = 4;

  ThreadPool() {
    for (uint32_t i = 1; i < kMost; ++i) team_.emplace_back([this, i] { serve(i); });
  }
  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    for (std::thread &t : team_) t.join();
  }
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  rnnp_executor executor(uint32_t threads) { return {&lent_[threads - 1], threads, parallel, wait}; }

 private:
  struct Lent {
    ThreadPool *pool;
    uint32_t threads;
  };

  static void parallel(void *ctx, void (*task)(void *, uint32_t), void *arg) {
    const Lent &lent = *static_cast<const Lent *>(ctx);
    lent.pool->run(lent.threads, task, arg);
  }
  static void wait(void *, uint32_t times) {
    if (times < 64)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  void run(uint32_t threads, void (*task)(void *, uint32_t), void *arg) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      task_ = task;
      arg_ = arg;
      threads_ = threads;
      running_ = threads - 1;
      ++round_;
    }
    wake_.notify_all();
    task(arg, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

  void serve(uint32_t self) {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return over_ || round_ != seen; });
      if (over_) return;
      seen = round_;
      if (self >= threads_) continue;
      lock.unlock();
      task_(arg_, self);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  void (*task_)(void *, uint32_t) = nullptr;
  void *arg_ = nullptr;
  uint32_t threads_ = 0, running_ = 0;
  uint64_t round_ = 0;
  bool over_ = false;
  Lent lent_[kMost] = {{this, 1}, {this, 2}, {this, 3}, {this, 4}};
  std::vector<std::thread> team_;
};

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_THREAD_POOL_H_
