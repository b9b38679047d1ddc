// tune.h -- the fastest of the ways in which a session can run a model on this machine. They all give the same bits, so it is a
// matter of timing alone. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_TUNE_H_
#define RNNPACK_COMPILER_RUN_TUNE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// One way: options that are left 0 are the library's choice.
struct Tuning {
  uint32_t threads = 1;
  uint32_t chunk_steps = 0, isa_allowed = 0, l2_bytes = 0, flags = 0;
};

struct TuneTask {
  size_t steps = 0;  // of one call
  uint32_t batch = 1, most_threads = 1;
  double seconds = 0.2;  // for each pair of ways that is compared
};

// What was tried against the best so far: least microseconds a call of either, taking turns.
struct Trial {
  std::string what;
  double best_us = 0, us = 0;
  bool taken = false;
};

struct Tuned {
  Tuning tuning;
  std::vector<Trial> trials;
  double ratio = 1;  // of the library's own choice, measured at the end
};

// A way is taken when it is faster by more than `kWorthwhile`. Throws IoError when the library refuses the model, or when two ways
// do not give the same bits.
constexpr double kWorthwhile = 0.03;
Tuned tune(const rnnp_model &model, const TuneTask &task);

// "chunk_steps 16, 2 threads", or "the library's choice".
std::string text_of(const Tuning &tuning);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_TUNE_H_
