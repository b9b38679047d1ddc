// node_clock.cpp -- Contract: node_clock.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/run/node_clock.h"

#include <utility>

namespace rnnp::compiler {

void NodeClock::begin(void *ctx, const rnnp_trace_event *) {
  static_cast<NodeClock *>(ctx)->begun_ = Steady::now();
}

void NodeClock::end(void *ctx, const rnnp_trace_event *event) {
  const Steady::time_point now = Steady::now();
  NodeClock &clock = *static_cast<NodeClock *>(ctx);
  const std::chrono::duration<double, std::nano> took = now - clock.begun_;
  clock.times_[event->node].ns += took.count();
  ++clock.times_[event->node].calls;
  if (!clock.keeps_spans_) return;
  const std::chrono::duration<double, std::micro> since = clock.begun_ - clock.made_;
  clock.spans_.push_back({event->node, event->thread, event->steps, since.count(), took.count() / 1000});
}

std::vector<NodeTime> NodeClock::take_times() {
  return std::exchange(times_, std::vector<NodeTime>(times_.size()));
}

}  // namespace rnnp::compiler
