// tune_blob.cpp -- what tuning found, as a table, a C header or a machine file. Contract: run.h.
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cstdio>
#include <memory>

#include "compiler/emit/emit_c.h"
#include "compiler/emit/upper.h"
#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"
#include "compiler/run/machine_file.h"
#include "compiler/run/opened_blob.h"
#include "compiler/run/run.h"
#include "compiler/run/tune.h"

namespace rnnp::compiler {
namespace {

std::string stem_of(const std::string &path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

std::string header_text(const std::string &path, const Tuned &tuned, const TuneTask &task) {
  const std::string name = stem_of(path), guard = upper(name) + "_H_";
  const Tuning &t = tuned.tuning;
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", tuned.ratio);
  return "/* Made by `rnnpack tune` on " + cpu_name() + " for calls of " + std::to_string(task.steps) + " steps of " +
         std::to_string(task.batch) + " rows:\n * " + text_of(t) + " takes " + ratio +
         " of the time of the library's choice. Results are the same bits. */\n#ifndef " + guard + "\n#define " + guard +
         "\n\n#include <rnnpack/rnnpack.h>\n\n#define " + upper(name) + "_THREADS " + std::to_string(t.threads) +
         "u /* of the executor to give; 1: none */\n\n/* Into options that are initialised already. */\nstatic inline void " +
         name + "(rnnp_session_options *options) {\n  options->chunk_steps = " + std::to_string(t.chunk_steps) +
         "u;\n  options->isa_allowed = " + std::to_string(t.isa_allowed) +
         "u;\n  options->l2_bytes = " + std::to_string(t.l2_bytes) + "u;\n  options->flags |= " + std::to_string(t.flags) +
         "u;\n}\n\n#endif /* " + guard + " */\n";
}

// Before a minute is spent.
void check_name(const std::string &path) {
  const std::string name = stem_of(path);
  if (is_taken_name(name, true))
    throw UsageError("--output " + quote(path) + " would name a function " + quote(name) +
                     ", which is taken; accepted: another name, e.g. tuned.h");
}

bool is_machine_file(const std::string &path) {
  return path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
}

}  // namespace

void tune_blob(const TuneRequest &options, const Listener &listener) {
  if (!options.output.empty()) check_distinct({options.blob}, {options.output});
  if (!options.output.empty() && !is_machine_file(options.output)) check_name(options.output);
  TuneTask task{options.steps, options.batch, options.most_threads, options.seconds};
  const std::unique_ptr<OpenedBlob> blob = open_blob(options.blob);
  fit_call(blob->model, &task.steps, &task.batch);
  const Tuned tuned = tune(blob->model, task);
  std::string table = cpu_name() + ", calls of " + std::to_string(task.steps) + " steps of " + std::to_string(task.batch) +
                      " rows; us a call, least of many taking turns\n\n| tried | best before | this | |\n|---|--:|--:|---|\n";
  char numbers[96];
  for (const Trial &t : tuned.trials) {
    std::snprintf(numbers, sizeof numbers, " | %.2f | %.2f | %s |\n", t.best_us, t.us, t.taken ? "taken" : "");
    table += "| " + t.what + numbers;
  }
  std::snprintf(numbers, sizeof numbers, ": %.2f of the time of the library's choice\n", tuned.ratio);
  listener.say(MessageKind::kReport, table + "\n" + text_of(tuned.tuning) + numbers);
  if (!options.output.empty()) {
    const std::string text = is_machine_file(options.output) ? machine_text(tuned, task) : header_text(options.output, tuned, task);
    write_file(options.output, text.data(), text.size());
  }
}

}  // namespace rnnp::compiler
