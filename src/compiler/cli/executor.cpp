// executor.cpp -- Contract: executor.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/executor.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "compiler/onnx/problem.h"

#ifdef RNNPACK_HAS_PTHREADPOOL
#include <pthreadpool.h>

#include "rnnpack/executor_pthreadpool.h"
#endif

namespace rnnp::compiler {
namespace {

#ifdef RNNPACK_HAS_PTHREADPOOL

class PoolExecutor : public Executor {
 public:
  explicit PoolExecutor(uint32_t threads) : pool_(pthreadpool_create(threads)) {
    if (!pool_ || rnnp_executor_from_pthreadpool(&executor_, pool_, nullptr) != RNNP_OK)
      throw IoError("cannot make a pool of threads");
  }
  PoolExecutor(const PoolExecutor &) = delete;
  PoolExecutor &operator=(const PoolExecutor &) = delete;
  ~PoolExecutor() override { pthreadpool_destroy(pool_); }

 private:
  pthreadpool_t pool_;
};

#else

// Thread i runs task i of every region; task 0 is the caller's.
class PoolExecutor : public Executor {
 public:
  explicit PoolExecutor(uint32_t threads) {
    executor_ = {sizeof executor_, threads, this, parallel, wait};
    try {
      for (uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error &) {
      stop();
      throw IoError("cannot make " + std::to_string(threads) + " threads");
    }
  }
  PoolExecutor(const PoolExecutor &) = delete;
  PoolExecutor &operator=(const PoolExecutor &) = delete;
  ~PoolExecutor() override { stop(); }

 private:
  using Task = void (*)(void *arg, uint32_t thread);

  static void wait(void *, uint32_t times) {
    if (times < 32) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  static void parallel(void *ctx, Task task, void *arg) { static_cast<PoolExecutor *>(ctx)->region(task, arg); }

  void region(Task task, void *arg) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      task_ = task;
      arg_ = arg;
      running_ = workers_.size();
      ++round_;
    }
    wake_.notify_all();
    task(arg, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

  void work(uint32_t index) {
    uint64_t seen = 0;
    while (true) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      const Task task = task_;
      void *const arg = arg_;
      lock.unlock();
      task(arg, index);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread &worker : workers_) worker.join();
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  Task task_ = nullptr;
  void *arg_ = nullptr;
  size_t running_ = 0;
  uint64_t round_ = 0;
  bool stopping_ = false;
};

#endif

}  // namespace

std::unique_ptr<Executor> make_executor(uint32_t threads) {
  if (threads <= 1) return nullptr;
  return std::make_unique<PoolExecutor>(threads);
}

}  // namespace rnnp::compiler
