// run.h -- the commands that run blobs on this machine or ask the library of them: `run`, `profile`, `tune` and `registry`.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_RUN_H_
#define RNNPACK_COMPILER_RUN_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/options/listener.h"

namespace rnnp::compiler {

struct RunRequest {
  std::string blob, machine, cuda_weights = "f32";
  std::vector<std::string> inputs, outputs;
  uint32_t threads = 1;
  size_t steps_per_call = 0;
  bool last_step = false, portable_ops = false, reference = false, cuda = false;
};
// Writes the outputs, or says what came out where no file is named. With a listener's progress long work is cut into calls.
void run_blob(const RunRequest &request, const Listener &listener);

struct ProfileRequest {
  std::string blob, trace;
  size_t steps = 0;  // 0: those it was compiled for, or usual ones
  uint32_t batch = 1;
  double seconds = 0.3;
  bool json = false;
};
// The text to print. Writes the trace that the request asks for.
std::string profile_blob(const ProfileRequest &request);

struct TuneRequest {
  std::string blob, output;
  size_t steps = 0;  // as a profile's
  uint32_t batch = 1, most_threads = 1;
  double seconds = 0.2;  // for each comparison
};
// Says what was tried, then writes the file that the request asks for.
void tune_blob(const TuneRequest &request, const Listener &listener);

// A C file that links what any session on these blobs needs.
std::string registry_of_blobs(const std::vector<std::string> &paths);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_RUN_H_
