// rnnpack_machine: the limits a row's time is held against, measured: read bandwidth per cache level and per size, f32 multiply-add
// peak, and what it costs two pinned threads to meet. Prints JSON. Usage: rnnpack_machine [cpu[,cpu...] [thread count...]]; the
// counts are 1 and, where there is a second cpu, 2 unless given. SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "clock_ns.h"
#include "machine_loops.h"

namespace {

constexpr double kTrialSeconds = 0.002;  // short and many: the least disturbed one counts
constexpr int kTrials = 9;
constexpr int kCalibrations = 3;    // one disturbed start must not pass for a slow machine
constexpr double kMostGrowth = 64;  // of the rounds from one calibration to the next: the clock itself tells in the first
constexpr size_t kPage = 4096;
constexpr size_t kSweepFrom = size_t{16} << 10;
constexpr size_t kSweepTo = size_t{256} << 20;

struct Caches {
  size_t l1, l2, l3;
};

// One instance of the level, as the kernel sees it: sysconf adds up the last level of some hosts. 0 when not told.
size_t kernel_cache_bytes(int level) {
  for (int index = 0; index < 6; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string type, size;
    int of_level = 0;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "level") >> of_level;
    std::ifstream(folder + "size") >> size;
    if (of_level != level || type == "Instruction" || size.empty()) continue;
    const size_t number = std::strtoul(size.c_str(), nullptr, 10);
    return size.back() == 'K' ? number << 10 : size.back() == 'M' ? number << 20 : number;
  }
  return 0;
}

size_t cache_bytes(int level, int sysconf_name, size_t otherwise) {
  if (const size_t bytes = kernel_cache_bytes(level)) return bytes;
  const long bytes = sysconf(sysconf_name);
  return bytes > 0 ? static_cast<size_t>(bytes) : otherwise;
}

Caches caches() {
  return {cache_bytes(1, _SC_LEVEL1_DCACHE_SIZE, size_t{32} << 10), cache_bytes(2, _SC_LEVEL2_CACHE_SIZE, size_t{512} << 10),
          cache_bytes(3, _SC_LEVEL3_CACHE_SIZE, size_t{8} << 20)};
}

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Runs work(thread) on all cpus at once; returns the seconds from the first start to the last end.
template <class Work>
double run_all(const std::vector<int> &cpus, Work work) {
  std::atomic<size_t> ready{0};
  std::vector<uint64_t> begin(cpus.size()), end(cpus.size());
  const auto body = [&](size_t i) {
    pin(cpus[i]);
    ++ready;
    while (ready.load() < cpus.size()) {
    }
    begin[i] = clock_ns();
    work(i);
    end[i] = clock_ns();
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < cpus.size(); ++i) threads.emplace_back(body, i);
  body(0);
  for (std::thread &thread : threads) thread.join();
  return 1e-9 * static_cast<double>(*std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end()));
}

// Largest amount per second over the trials; work(thread, times) does `times` rounds of `amount` each.
template <class Work>
double best_rate(const std::vector<int> &cpus, double amount, Work work) {
  const auto least_seconds = [&](size_t times, int trials) {
    double least = run_all(cpus, [&](size_t i) { work(i, times); });
    for (int trial = 1; trial < trials; ++trial) least = std::min(least, run_all(cpus, [&](size_t i) { work(i, times); }));
    return least;
  };
  size_t times = 1;
  for (double taken; (taken = least_seconds(times, kCalibrations)) < kTrialSeconds;) {
    times *= static_cast<size_t>(std::clamp(1 + kTrialSeconds / taken, 2.0, kMostGrowth));
  }
  const double best = least_seconds(times, kTrials);
  return amount * static_cast<double>(times * cpus.size()) / best;
}

std::atomic<long long> g_keep;

// GB/s of all cpus together, each reading its own `bytes`.
double read_bandwidth(const MachineLoops &loops, const std::vector<int> &cpus, size_t bytes) {
  bytes = std::max(kPage, bytes / kPage * kPage);
  std::vector<void *> buffers(cpus.size());
  for (void *&buffer : buffers) {
    buffer = std::aligned_alloc(kPage, bytes);
    if (!buffer) std::abort();
    std::memset(buffer, 1, bytes);
  }
  const double rate =
      best_rate(cpus, static_cast<double>(bytes), [&](size_t i, size_t times) { g_keep += loops.read(buffers[i], bytes, times); });
  for (void *buffer : buffers) std::free(buffer);
  return rate * 1e-9;
}

double multiply_peak(const MachineLoops &loops, const std::vector<int> &cpus) {
  const double per_round = static_cast<double>(loops.flops_per_round);
  return 1e-9 * best_rate(cpus, per_round, [&](size_t, size_t times) { g_keep += loops.multiply(times) > 0 ? 1 : 0; });
}

// Nanoseconds for two threads to meet: each in turn raises a counter of its own and waits for the other's.
double sync_ns(const std::vector<int> &cpus) {
  constexpr unsigned kSyncs = 100000;
  struct alignas(128) Counter {
    std::atomic<unsigned> value{0};
  };
  double best = 1e9;
  for (int trial = 0; trial < kTrials; ++trial) {
    Counter counters[2];
    const double seconds = run_all({cpus[0], cpus[1]}, [&](size_t i) {
      for (unsigned n = 1; n <= kSyncs; ++n) {
        counters[i].value.store(n, std::memory_order_release);
        while (counters[1 - i].value.load(std::memory_order_acquire) < n) {
        }
      }
    });
    best = std::min(best, seconds * 1e9 / kSyncs);
  }
  return best;
}

// Sizes that sit well inside a level. The last level is shared: all threads' buffers together fill a quarter of it.
struct LevelSizes {
  size_t l1, l2, l3, dram;
};

LevelSizes level_sizes(const Caches &sizes, size_t threads) {
  const size_t l3 = std::min(std::max(sizes.l2 * 4, sizes.l3 / 4), sizes.l3 / 2);
  return {sizes.l1 / 2, sizes.l2 / 2, l3 / threads, std::min(std::max(sizes.l3 * 4, size_t{64} << 20), kSweepTo) / threads};
}

// The powers of two and the three-quarter points between them: caches do not read all that they hold at one rate.
std::vector<size_t> sweep_sizes() {
  std::vector<size_t> sizes;
  for (size_t bytes = kSweepFrom; bytes < kSweepTo; bytes *= 2) sizes.insert(sizes.end(), {bytes, bytes + bytes / 2});
  sizes.push_back(kSweepTo);
  return sizes;
}

void print_sweep(const MachineLoops &loops, const std::vector<int> &cpus) {
  std::printf("\"sweep\": [");
  for (const size_t bytes : sweep_sizes()) {
    std::printf("%s[%zu, %.1f]", bytes == kSweepFrom ? "" : ", ", bytes, read_bandwidth(loops, cpus, bytes));
  }
  std::printf("]");
}

void print_limits(const MachineLoops &loops, const std::vector<int> &cpus, const Caches &sizes) {
  const LevelSizes level = level_sizes(sizes, cpus.size());
  std::printf("\"%zu\": {\"l1\": %.1f, \"l2\": %.1f, \"l3\": %.1f, \"dram\": %.1f, \"fma_gflops\": %.1f, ", cpus.size(),
              read_bandwidth(loops, cpus, level.l1), read_bandwidth(loops, cpus, level.l2), read_bandwidth(loops, cpus, level.l3),
              read_bandwidth(loops, cpus, level.dram), multiply_peak(loops, cpus));
  print_sweep(loops, cpus);
  std::printf("}");
}

std::vector<int> parse_cpus(const char *text) {
  std::vector<int> cpus;
  for (char *next = const_cast<char *>(text); *next;) {
    cpus.push_back(static_cast<int>(std::strtol(next, &next, 10)));
    if (*next == ',') ++next;
  }
  return cpus;
}

// Those of the counts asked for that the cpus allow.
std::vector<size_t> thread_counts(int argc, char **argv, size_t cpus) {
  std::vector<size_t> counts;
  for (int i = 2; i < argc; ++i) counts.push_back(std::strtoul(argv[i], nullptr, 10));
  if (counts.empty()) counts = {1, 2};
  counts.erase(std::remove_if(counts.begin(), counts.end(), [&](size_t n) { return n < 1 || n > cpus; }), counts.end());
  return counts;
}

}  // namespace

int main(int argc, char **argv) {
  const std::vector<int> cpus = parse_cpus(argc > 1 ? argv[1] : "0");
  const MachineLoops loops = best_machine_loops();
  const Caches sizes = caches();
  std::printf("{\"isa\": \"%s\", \"cache_bytes\": {\"l1\": %zu, \"l2\": %zu, \"l3\": %zu}, \"limits\": {", loops.isa, sizes.l1,
              sizes.l2, sizes.l3);
  const char *separator = "";
  for (const size_t n : thread_counts(argc, argv, cpus.size())) {
    std::printf("%s", separator);
    print_limits(loops, {cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(n)}, sizes);
    separator = ", ";
  }
  std::printf("}");
  if (cpus.size() > 1) std::printf(", \"sync_ns\": %.1f", sync_ns(cpus));
  std::printf("}\n");
  return 0;
}
