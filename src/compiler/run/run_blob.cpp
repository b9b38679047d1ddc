// run_blob.cpp -- .npy in, .npy out, through the public C API. Contract: run.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <list>
#include <memory>

#include "compiler/files/array_files.h"
#include "compiler/onnx/errors.h"
#include "compiler/run/cuda_backend.h"
#include "compiler/run/machine_file.h"
#include "compiler/run/run.h"
#include "compiler/run/runner.h"

namespace rnnp::compiler {
namespace {

std::vector<std::string> read_paths(const RunRequest &options, const Runner &runner) {
  std::vector<std::string> paths = file_names(options.inputs, runner.inputs());
  paths.insert(paths.end(), {options.blob, options.machine});
  return paths;
}

std::vector<std::string> paths_of(const std::map<std::string, std::string> &files) {
  std::vector<std::string> paths;
  for (const auto &file : files) paths.push_back(file.second);
  return paths;
}

void write_outputs(const std::map<std::string, std::string> &files, const Arrays &results) {
  std::list<std::vector<uint8_t>> bytes;
  std::vector<OutputFile> out;
  for (const auto &file : files) {
    bytes.push_back(format_npy(results.at(file.first)));
    out.push_back({file.second, bytes.back().data(), bytes.back().size()});
  }
  write_files(out);
}

// What came out, for who asked for no file.
std::string summary_text(const Arrays &results) {
  std::string text;
  for (const auto &result : results) {
    double least = HUGE_VAL, most = -HUGE_VAL, sum = 0;
    size_t finite = 0;
    for (const float v : result.second.f32) {
      if (!std::isfinite(v)) continue;
      least = std::min(least, static_cast<double>(v));
      most = std::max(most, static_cast<double>(v));
      sum += static_cast<double>(v);
      ++finite;
    }
    char line[160] = "no finite element";
    if (finite != 0)
      std::snprintf(line, sizeof line, "from %.6g to %.6g, mean %.6g", least, most, sum / static_cast<double>(finite));
    text += result.first + " " + shape_text(result.second.shape) + ": " + line;
    const size_t others = result.second.f32.size() - finite;
    text += (others != 0 ? "; " + std::to_string(others) + " NaN or infinite" : "") + "\n";
  }
  return text + "nothing was written: --output NAME=y.npy does that\n";
}

// Other options of the command stay what they are; the file has none of them.
void run_as_tuned(const std::string &path, RunOptions *how, const Listener &listener) {
  const std::vector<uint8_t> bytes = read_file(path);
  const MachineFile file = read_machine({bytes.begin(), bytes.end()}, path);
  if (file.cpu != cpu_name())
    listener.say(MessageKind::kNote, quote(path) + " was made on " + file.cpu + "; this is " + cpu_name());
  how->threads = file.tuning.threads;
  how->all_threads = (file.tuning.flags & RNNP_SESSION_ALL_THREADS) != 0;
  how->chunk_steps = file.tuning.chunk_steps;
  how->l2_bytes = file.tuning.l2_bytes;
  if (how->isa_allowed == 0) how->isa_allowed = file.tuning.isa_allowed;
}

}  // namespace

void run_blob(const RunRequest &options, const Listener &listener) {
  Runner runner(read_file(options.blob), quote(options.blob));
  const auto outputs = files_by_name(options.outputs, runner.outputs(), "output");
  check_distinct(read_paths(options, runner), paths_of(outputs));
  const Arrays arrays = read_inputs(options.inputs, runner.inputs());
  RunOptions how;
  how.threads = options.threads;
  how.steps_per_call = options.steps_per_call;
  how.last_step = options.last_step;
  how.portable_ops = options.portable_ops;
  how.isa_allowed = options.reference ? RNNP_ISA_REFERENCE_ONLY : 0;
  if (!options.machine.empty()) run_as_tuned(options.machine, &how, listener);
  const std::unique_ptr<Backend> gpu = options.cuda ? make_cuda_backend(runner, options.cuda_weights) : nullptr;
  how.backend = gpu.get();
  if (listener.progress) {
    // Results do not depend on the cut, so long work is cut where someone watches.
    constexpr size_t kWatchedSteps = 2000;
    if (how.steps_per_call == 0 && runner.facts().causal) how.steps_per_call = kWatchedSteps;
    how.progress = [&](size_t done, size_t steps) {
      if (steps > kWatchedSteps) listener.progress(done, steps);
    };
  }
  const Arrays results = runner.run(arrays, how);
  write_outputs(outputs, results);
  if (outputs.empty()) listener.say(MessageKind::kReport, summary_text(results));
}

}  // namespace rnnp::compiler
