// range_watch.h -- whether an evaluation in f64 has numbers that f32 has not: from there on what computes in f32 may give anything.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_RANGE_WATCH_H_
#define RNNPACK_COMPILER_EVAL_RANGE_WATCH_H_

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string>

namespace rnnp::compiler {

// Sees what is evaluated on its thread while it lives; one within another sees alone.
class RangeWatch {
 public:
  RangeWatch() : outer_(current_) { current_ = this; }
  ~RangeWatch() { current_ = outer_; }
  RangeWatch(const RangeWatch &) = delete;
  RangeWatch &operator=(const RangeWatch &) = delete;

  // The first node that had such a number, as "node 'cell' (LSTM)", of a layer with its first such step; empty: none.
  const std::string &node() const { return node_; }

  static bool is_on() { return current_ != nullptr && current_->node_.empty(); }
  // A number that a node computes and perhaps does not give out.
  static void see(double number) {
    if (is_beyond(number) && current_ != nullptr) current_->seen_ = current_->seen_in_step_ = true;
  }
  // Behind a step of a layer, whose rows are evaluated one after the other.
  static void end_step(int64_t step) {
    if (!is_on() || !current_->seen_in_step_) return;
    current_->step_ = current_->step_ < 0 ? step : std::min(current_->step_, step);
    current_->seen_in_step_ = false;
  }
  // Behind a node: what was seen was its.
  static void end_node(const std::string &title) {
    if (!is_on() || !current_->seen_) return;
    current_->node_ = title + (current_->step_ < 0 ? "" : " in step " + std::to_string(current_->step_));
  }
  static bool is_beyond(double number) { return std::fabs(number) > double{FLT_MAX} && std::isfinite(number); }

 private:
  static thread_local RangeWatch *current_;
  RangeWatch *outer_;
  bool seen_ = false, seen_in_step_ = false;
  int64_t step_ = -1;
  std::string node_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_RANGE_WATCH_H_
