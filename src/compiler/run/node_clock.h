// node_clock.h -- a trace with a clock: how long each node of a session's calls takes, and when. For sessions on one thread.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_NODE_CLOCK_H_
#define RNNPACK_COMPILER_RUN_NODE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "rnnpack/trace.h"

namespace rnnp::compiler {

struct NodeTime {
  double ns = 0;
  uint64_t calls = 0;
};

// A node's part of a chunk, in microseconds since the clock was made.
struct NodeSpan {
  uint32_t node, thread, steps;
  double begin_us, us;
};

class NodeClock {
 public:
  explicit NodeClock(size_t nodes) : times_(nodes), trace_{sizeof(rnnp_trace), this, begin, end} {}
  NodeClock(const NodeClock &) = delete;
  NodeClock &operator=(const NodeClock &) = delete;

  // For rnnp_session_set_trace.
  const rnnp_trace *trace() const { return &trace_; }

  // By nodes in the blob's order; takes what was measured since the last call of it, and starts anew.
  std::vector<NodeTime> take_times();

  // From now on each span is kept.
  void keep_spans() { keeps_spans_ = true; }
  std::vector<NodeSpan> take_spans() { return std::move(spans_); }

 private:
  using Steady = std::chrono::steady_clock;
  static void begin(void *ctx, const rnnp_trace_event *event);
  static void end(void *ctx, const rnnp_trace_event *event);

  std::vector<NodeTime> times_;
  std::vector<NodeSpan> spans_;
  bool keeps_spans_ = false;
  Steady::time_point made_ = Steady::now(), begun_;
  rnnp_trace trace_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_NODE_CLOCK_H_
