// tune.cpp -- Contract: tune.h. One property after the other, each tried against the best way so far in turns of single calls.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/tune.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "compiler/emit/refusal_text.h"
#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"
#include "compiler/run/executor.h"
#include "compiler/run/random_call.h"

namespace rnnp::compiler {
namespace {

class Session {
 public:
  Session(const rnnp_model &model, const TuneTask &task, const Tuning &t) : executor_(make_executor(t.threads)) {
    rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
    check(rnnp_model_get_info(&model, &facts), "rnnp_model_get_info");
    rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
    options.max_batch = task.batch;
    options.max_steps = facts.causal ? 0 : static_cast<uint32_t>(task.steps);
    options.chunk_steps = t.chunk_steps;
    options.isa_allowed = t.isa_allowed;
    options.l2_bytes = t.l2_bytes;
    options.flags = t.flags;
    options.executor = executor_ ? executor_->get() : nullptr;
    rnnp_memory memory = RNNP_MEMORY_INIT;
    check(rnnp_session_memory(&model, &options, &memory), "the library cannot run this blob");
    memory_ = std::make_unique<AlignedBytes>(memory.session_bytes, memory.alignment);
    check(rnnp_session_init(&session_, &model, &options, memory_->data(), memory_->size()), "rnnp_session_init");
  }

  double us(const rnnp_io *io) {
    const auto begin = std::chrono::steady_clock::now();
    check(rnnp_run_io(session_, io), "rnnp_run_io");
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<AlignedBytes> memory_;
  rnnp_session *session_ = nullptr;
};

class TuningSearch {
 public:
  TuningSearch(const rnnp_model &model, const TuneTask &task) : model_(model), task_(task) {}

  // Least times of two ways that take turns of several calls: a pool's threads look for work for a while before they sleep.
  std::pair<double, double> compare(const Tuning &a, const Tuning &b) {
    RandomCall first(model_, task_.steps, task_.batch), second(model_, task_.steps, task_.batch);
    Session one(model_, task_, a), other(model_, task_, b);
    one.us(first.io()), other.us(second.io());
    if (first.results() != second.results()) throw IoError("two ways to run the model differ: " + text_of(a) + "; " + text_of(b));
    std::pair<double, double> least = {1e30, 1e30};
    constexpr int kFewestTurns = 3, kCalls = 8;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kFewestTurns || std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(task_.seconds);
         ++i) {
      for (int call = 0; call < kCalls; ++call) least.first = std::min(least.first, one.us(first.io()));
      for (int call = 0; call < kCalls; ++call) least.second = std::min(least.second, other.us(second.io()));
    }
    return least;
  }

  void consider(const Tuning &way) {
    const auto [best, us] = compare(tuned_.tuning, way);
    const bool taken = us < best * (1 - kWorthwhile);
    tuned_.trials.push_back({text_of(way), best, us, taken});
    if (taken) tuned_.tuning = way;
  }

  Tuned run() {
    for (uint32_t threads = 2; threads <= task_.most_threads; threads *= 2) {
      for (const uint32_t flags : {0u, RNNP_SESSION_ALL_THREADS}) {
        Tuning way = tuned_.tuning;
        way.threads = threads, way.flags = flags;
        consider(way);
      }
    }
#if defined(__x86_64__) || defined(__i386__)
    Tuning narrower = tuned_.tuning;
    narrower.isa_allowed = RNNP_ISA_AVX2 | RNNP_ISA_AVX_VNNI;
    consider(narrower);
#endif
    for (const uint32_t steps : {1u, 4u, 16u, 64u, 128u}) {
      Tuning way = tuned_.tuning;
      way.chunk_steps = steps;
      if (steps <= task_.steps) consider(way);
    }
    for (const uint32_t kilobytes : {256u, 512u, 1024u, 2048u, 4096u}) {
      Tuning way = tuned_.tuning;
      way.l2_bytes = kilobytes * 1024;
      consider(way);
    }
    if (std::none_of(tuned_.trials.begin(), tuned_.trials.end(), [](const auto &trial) { return trial.taken; })) return tuned_;
    const auto [chosen, tuned] = compare({}, tuned_.tuning);
    tuned_.ratio = tuned / chosen;
    if (tuned_.ratio > 1 - kWorthwhile) tuned_.tuning = {}, tuned_.ratio = 1;  // what was taken does not last
    return tuned_;
  }

 private:
  const rnnp_model &model_;
  const TuneTask task_;
  Tuned tuned_;
};

}  // namespace

std::string text_of(const Tuning &t) {
  std::string text;
  const auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
  if (t.threads > 1) add(std::to_string(t.threads) + " threads");
  if (t.flags & RNNP_SESSION_ALL_THREADS) add("in every layer");
  if (t.isa_allowed != 0) add("AVX2");
  if (t.chunk_steps != 0) add("chunk_steps " + std::to_string(t.chunk_steps));
  if (t.l2_bytes != 0) add("l2_bytes " + std::to_string(t.l2_bytes));
  return text.empty() ? "the library's choice" : text;
}

Tuned tune(const rnnp_model &model, const TuneTask &task) {
  return TuningSearch(model, task).run();
}

}  // namespace rnnp::compiler
