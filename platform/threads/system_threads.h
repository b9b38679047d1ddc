// system_threads.h -- a lock, a condition, a thread, yield, sleep and pinning: POSIX threads, or those of Windows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_THREADS_SYSTEM_THREADS_H_
#define RNNPACK_PLATFORM_THREADS_SYSTEM_THREADS_H_

#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <sched.h>
#include <time.h>
#endif
#if defined(__APPLE__)
#include <pthread/qos.h>
#endif

namespace rnnp {

#if defined(_WIN32)

class Lock {
 public:
  void init() { InitializeSRWLock(&lock_); }
  void destroy() {}
  void take() { AcquireSRWLockExclusive(&lock_); }
  void release() { ReleaseSRWLockExclusive(&lock_); }

 private:
  friend class Condition;
  SRWLOCK lock_;
};

class Condition {
 public:
  void init() { InitializeConditionVariable(&condition_); }
  void destroy() {}
  void wait(Lock *lock) { SleepConditionVariableSRW(&condition_, &lock->lock_, INFINITE, 0); }
  void signal() { WakeConditionVariable(&condition_); }
  void broadcast() { WakeAllConditionVariable(&condition_); }

 private:
  CONDITION_VARIABLE condition_;
};

class SystemThread {
 public:
  bool start(void (*run)(void *arg), void *arg) {
    run_ = run;
    arg_ = arg;
    handle_ = CreateThread(nullptr, 0, enter, this, 0, nullptr);
    return handle_ != nullptr;
  }
  void join() {
    WaitForSingleObject(handle_, INFINITE);
    CloseHandle(handle_);
  }

 private:
  static DWORD WINAPI enter(void *self) {
    SystemThread *t = static_cast<SystemThread *>(self);
    t->run_(t->arg_);
    return 0;
  }
  void (*run_)(void *arg);
  void *arg_;
  HANDLE handle_;
};

constexpr bool kCanPin = true;
inline bool pin_this_thread(int32_t cpu) {
  return cpu < int32_t(sizeof(DWORD_PTR) * 8) && SetThreadAffinityMask(GetCurrentThread(), DWORD_PTR{1} << cpu) != 0;
}
inline void yield_this_thread() {
  Sleep(0);
}
inline void sleep_a_little() {
  Sleep(1);
}

#else

class Lock {
 public:
  void init() { pthread_mutex_init(&lock_, nullptr); }
  void destroy() { pthread_mutex_destroy(&lock_); }
  void take() { pthread_mutex_lock(&lock_); }
  void release() { pthread_mutex_unlock(&lock_); }

 private:
  friend class Condition;
  pthread_mutex_t lock_;
};

class Condition {
 public:
  void init() { pthread_cond_init(&condition_, nullptr); }
  void destroy() { pthread_cond_destroy(&condition_); }
  void wait(Lock *lock) { pthread_cond_wait(&condition_, &lock->lock_); }
  void signal() { pthread_cond_signal(&condition_); }
  void broadcast() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_;
};

class SystemThread {
 public:
  bool start(void (*run)(void *arg), void *arg) {
    run_ = run;
    arg_ = arg;
#if defined(__APPLE__)
    // The starter's class: a thread of another one may be kept on slow cores, and the others wait for it every step.
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    const qos_class_t own = qos_class_self();
    if (own != QOS_CLASS_UNSPECIFIED) pthread_attr_set_qos_class_np(&attributes, own, 0);
    const bool started = pthread_create(&thread_, &attributes, enter, this) == 0;
    pthread_attr_destroy(&attributes);
    return started;
#else
    return pthread_create(&thread_, nullptr, enter, this) == 0;
#endif
  }
  void join() {
    pthread_join(thread_, nullptr);
  }

 private:
  static void *enter(void *self) {
    SystemThread *t = static_cast<SystemThread *>(self);
    t->run_(t->arg_);
    return nullptr;
  }
  void (*run_)(void *arg);
  void *arg_;
  pthread_t thread_;
};

#if defined(__linux__)
constexpr bool kCanPin = true;
inline bool pin_this_thread(int32_t cpu) {
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}
#else
constexpr bool kCanPin = false;
inline bool pin_this_thread(int32_t) {
  return false;
}
#endif
inline void yield_this_thread() {
  sched_yield();
}
inline void sleep_a_little() {
  const timespec pause = {0, 20000};
  nanosleep(&pause, nullptr);
}

#endif

}  // namespace rnnp
#endif  // RNNPACK_PLATFORM_THREADS_SYSTEM_THREADS_H_
