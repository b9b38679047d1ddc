// roundings.h -- an evaluation in f64 whose values are off by about what f32 rounds off them, up or down at random: how far a
// result moves is what f32 arithmetic may lose of it (Monte Carlo arithmetic; Parker, UCLA CSD-970002, 1997).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_ROUNDINGS_H_
#define RNNPACK_COMPILER_EVAL_ROUNDINGS_H_

#include <cmath>
#include <cstdint>
#include <random>

namespace rnnp::compiler {

// Moves what is evaluated on its thread while it lives.
class Roundings {
 public:
  explicit Roundings(uint32_t seed) : random_(seed), outer_(current_) { current_ = this; }
  ~Roundings() { current_ = outer_; }
  Roundings(const Roundings &) = delete;
  Roundings &operator=(const Roundings &) = delete;

  // Off by four roundings of f32.
  static double moved(double v, std::mt19937 *random) {
    constexpr double kStep = 1.0 / (1 << 22);
    return v * ((*random)() & 1 ? 1 + kStep : 1 - kStep);
  }
  double moved(double v) { return moved(v, &random_); }
  static bool are_on() { return current_ != nullptr; }
  // A computed value. Integers that f32 has are exact: counts, choices, zeros.
  static double of(double v) { return current_ == nullptr || is_exact(v) ? v : current_->moved(v); }

 private:
  static bool is_exact(double v) { return v == std::trunc(v) && std::fabs(v) <= 1 << 24; }

  static thread_local Roundings *current_;
  std::mt19937 random_;
  Roundings *outer_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_ROUNDINGS_H_
