// profile.cpp -- Contract: profile.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/run/profile.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/emit/refusal_text.h"
#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"
#include "compiler/run/random_call.h"

namespace rnnp::compiler {
namespace {

using Steady = std::chrono::steady_clock;

// What a clock around nothing shows.
double empty_clock_ns() {
  double least = 1e9;
  for (int i = 0; i < 1000; ++i) {
    const Steady::time_point begin = Steady::now();
    least = std::min(least, std::chrono::duration<double, std::nano>(Steady::now() - begin).count());
  }
  return least;
}

// A session on one thread, and calls of it; clock: nullptr, or its trace.
class Subject {
 public:
  Subject(const rnnp_model &model, const ProfileTask &task, const NodeClock *clock)
      : call_(model, task.steps, task.batch), memory_(memory_of(model, task)) {
    const rnnp_session_options options = options_of(model, task);
    check(rnnp_session_init(&session_, &model, &options, memory_.data(), memory_.size()), "rnnp_session_init");
    if (clock != nullptr) check(rnnp_session_set_trace(session_, clock->trace()), "rnnp_session_set_trace");
    const rnnp_io &io = *call_.io();
    const auto is_given = [](const auto &buffer) { return buffer.data != nullptr; };
    const bool one_input = std::count_if(io.inputs, io.inputs + io.input_count, is_given) == 1 && is_given(io.inputs[0]);
    by_step_ = task.steps == 1 && one_input && io.output_count == 1 && once() == RNNP_OK;
  }

  double us() {
    const Steady::time_point begin = Steady::now();
    check(by_step_ ? once() : rnnp_run_io(session_, call_.io()), "a call");
    return std::chrono::duration<double, std::micro>(Steady::now() - begin).count();
  }

 private:
  static rnnp_session_options options_of(const rnnp_model &model, const ProfileTask &task) {
    rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
    check(rnnp_model_get_info(&model, &facts), "rnnp_model_get_info");
    rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
    options.max_batch = task.batch;
    options.max_steps = facts.causal ? 0 : static_cast<uint32_t>(task.steps);
    return options;
  }

  static AlignedBytes memory_of(const rnnp_model &model, const ProfileTask &task) {
    const rnnp_session_options options = options_of(model, task);
    rnnp_memory memory = RNNP_MEMORY_INIT;
    check(rnnp_session_memory(&model, &options, &memory), "the library cannot run this blob");
    return AlignedBytes(memory.session_bytes, memory.alignment);
  }

  rnnp_status once() { return rnnp_step(session_, call_.io()->inputs[0].data, call_.io()->outputs[0].data); }

  RandomCall call_;
  AlignedBytes memory_;
  rnnp_session *session_ = nullptr;
  bool by_step_ = false;
};

template <class Do>
void for_seconds(double seconds, Do &&once) {
  constexpr int kFewestCalls = 5;
  const Steady::time_point begin = Steady::now();
  for (int i = 0; i < kFewestCalls || Steady::now() - begin < std::chrono::duration<double>(seconds); ++i) once();
}

}  // namespace

Profile profile(const rnnp_model &model, const ProfileTask &task) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  check(rnnp_model_get_info(&model, &facts), "rnnp_model_get_info");
  Profile found;
  found.node_us.assign(facts.node_count, HUGE_VAL);
  found.call_us = HUGE_VAL;
  const double clock_ns = empty_clock_ns();
  NodeClock clock(facts.node_count);
  Subject plain(model, task, nullptr), timed(model, task, &clock);
  plain.us(), timed.us();
  clock.take_times();
  for_seconds(task.seconds, [&] {
    found.call_us = std::min(found.call_us, plain.us());
    timed.us();
    const std::vector<NodeTime> times = clock.take_times();
    for (size_t i = 0; i < times.size(); ++i) {
      const double ns = times[i].ns - clock_ns * static_cast<double>(times[i].calls);
      found.node_us[i] = std::min(found.node_us[i], std::max(ns, 0.0) / 1000);
    }
  });
  constexpr int kTracedCalls = 10;
  clock.keep_spans();
  for (int i = 0; i < kTracedCalls; ++i) timed.us();
  found.spans = clock.take_spans();
  return found;
}

}  // namespace rnnp::compiler
