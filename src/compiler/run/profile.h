// profile.h -- how long each node of a blob takes on this machine: sessions with a clock as their trace.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_PROFILE_H_
#define RNNPACK_COMPILER_RUN_PROFILE_H_

#include <cstdint>
#include <vector>

#include "compiler/run/node_clock.h"

namespace rnnp::compiler {

struct ProfileTask {
  size_t steps = 0;  // of one call; 1: the path of rnnp_step where the model has it
  uint32_t batch = 1;
  double seconds = 0.3;
};

// Microseconds of a call, the least of many.
struct Profile {
  std::vector<double> node_us;  // by nodes in the blob's order, the clock's own time taken off
  double call_us = 0;           // of a session without a clock
  std::vector<NodeSpan> spans;  // of some calls, one after the other
};

// Throws IoError when the library refuses the model.
Profile profile(const rnnp_model &model, const ProfileTask &task);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_PROFILE_H_
