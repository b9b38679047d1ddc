// cmd_tune.cpp -- `rnnpack tune`: which session options run a blob fastest on this machine, as a table, a C header or a machine
// file. SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/emit/refusal_text.h"
#include "compiler/emit/upper.h"
#include "compiler/files/files.h"
#include "compiler/run/machine_file.h"
#include "compiler/run/opened_blob.h"
#include "compiler/run/tune.h"

namespace rnnp::compiler {
namespace {

struct TuneArguments {
  std::string blob, output;
  TuneTask task;
};

std::string stem_of(const std::string &path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

std::string header_text(const std::string &path, const Tuned &tuned, const TuneArguments &options) {
  const std::string name = stem_of(path), guard = upper(name) + "_H_";
  const Tuning &t = tuned.tuning;
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", tuned.ratio);
  return "/* Made by `rnnpack tune` on " + cpu_name() + " for calls of " + std::to_string(options.task.steps) + " steps of " +
         std::to_string(options.task.batch) + " rows:\n * " + text_of(t) + " takes " + ratio +
         " of the time of the library's choice. Results are the same bits. */\n#ifndef " + guard + "\n#define " + guard +
         "\n\n#include <rnnpack/rnnpack.h>\n\n#define " + upper(name) + "_THREADS " + std::to_string(t.threads) +
         "u /* of the executor to give; 1: none */\n\n/* Into options that are initialised already. */\nstatic inline void " +
         name + "(rnnp_session_options *options) {\n  options->chunk_steps = " + std::to_string(t.chunk_steps) +
         "u;\n  options->isa_allowed = " + std::to_string(t.isa_allowed) +
         "u;\n  options->l2_bytes = " + std::to_string(t.l2_bytes) + "u;\n  options->flags |= " + std::to_string(t.flags) +
         "u;\n}\n\n#endif /* " + guard + " */\n";
}

bool is_machine_file(const std::string &path) {
  return path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
}

int run(TuneArguments options) {
  const std::unique_ptr<OpenedBlob> blob = open_blob(options.blob);
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  check(rnnp_model_get_info(&blob->model, &facts), "rnnp_model_get_info");
  constexpr size_t kUsualSteps = 100;
  if (options.task.steps == 0) options.task.steps = facts.stream_steps != 0 ? facts.stream_steps : kUsualSteps;
  if (facts.fixed_batch != 0) options.task.batch = facts.fixed_batch;
  if (!options.output.empty()) check_distinct({options.blob}, {options.output});
  const Tuned tuned = tune(blob->model, options.task);
  std::printf(
      "%s, calls of %zu steps of %u rows; us a call, least of many taking turns\n\n| tried | best before | this | "
      "|\n|---|--:|--:|---|\n",
      cpu_name().c_str(), options.task.steps, options.task.batch);
  for (const Trial &t : tuned.trials)
    std::printf("| %s | %.2f | %.2f | %s |\n", t.what.c_str(), t.best_us, t.us, t.taken ? "taken" : "");
  std::printf("\n%s: %.2f of the time of the library's choice\n", text_of(tuned.tuning).c_str(), tuned.ratio);
  if (!options.output.empty()) {
    const std::string text =
        is_machine_file(options.output) ? machine_text(tuned, options.task) : header_text(options.output, tuned, options);
    write_file(options.output, text.data(), text.size());
  }
  return kExitOk;
}

}  // namespace

void add_tune(CLI::App *app, Action *action) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App *command =
      app->add_subcommand("tune", "Time a blob on this machine with other session options than the library's choice");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--steps", options->task.steps, "of one call; left out: those it was compiled for (--stream), or 100")
      ->check(CLI::Range(size_t{1}, size_t{1} << 24));
  command->add_option("--batch", options->task.batch, "rows")->check(CLI::Range(1u, 1u << 16))->capture_default_str();
  command->add_option("--threads", options->task.most_threads, "most threads to try")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--seconds", options->task.seconds, "for each comparison")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "C header to write: NAME.h has NAME(options) and NAME_THREADS; NAME.json: a machine file for run --machine");
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
