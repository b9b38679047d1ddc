// cmd_compile.cpp -- `rnnpack compile`: ONNX file to blob, and with --emit-c to a C array.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/cli/files.h"
#include "compiler/cli/model_options.h"
#include "compiler/cli/progress_display.h"
#include "compiler/cli/quantizer.h"
#include "compiler/cli/self_check.h"
#include "compiler/cli/suggest_option.h"
#include "compiler/compile.h"
#include "compiler/emit/emit_c.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/import/import.h"
#include "compiler/ir/bind_states.h"
#include "compiler/onnx/problem.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

struct CompileArguments {
  std::string model, output, target = "generic", c_name, sparse = "keep", winograd = "auto";
  QuantizerOptions quantizer;
  uint32_t chunk_steps = 0, stream_steps = 0, max_steps = 100;
  bool one_file = false, incbin = false, progress_lines = false, no_check = false, no_onnx_meta = false;
  std::vector<std::string> meta;
  ModelOptions inputs;
};

// Little memory on a microcontroller, a few steps per input GEMM elsewhere.
uint32_t chunk_steps_of(const CompileArguments &options) {
  if (options.chunk_steps != 0) return options.chunk_steps;
  if (options.stream_steps != 0) return options.stream_steps;
  return panel_width(options.target) == 4 ? 1 : 16;
}

std::string list_text(const std::vector<Io> &ios) {
  std::string text;
  for (const Io &io : ios) {
    text += (text.empty() ? "" : ", ") + io.name + " [";
    for (size_t i = 0; i < io.dims.size(); ++i)
      text += (i ? ", " : "") + (io.dims[i] == RNNP_DIM_STEPS   ? std::string("steps")
                                 : io.dims[i] == RNNP_DIM_BATCH ? std::string("batch")
                                                                : std::to_string(io.dims[i]));
    text += "]";
  }
  return text;
}

// The options that say which graph the file is, as they were typed.
std::string flags_of(const ModelOptions &options) {
  const std::pair<const char *, const std::vector<std::string> *> kLists[] = {
      {"--from", &options.from},    {"--to", &options.to},     {"--set", &options.set},     {"--dim", &options.dims},
      {"--shape", &options.shapes}, {"--axes", &options.axes}, {"--state", &options.states}};
  std::string text;
  for (const auto &list : kLists) {
    for (const std::string &value : *list.second) text += std::string(" ") + list.first + " " + value;
  }
  return text;
}

std::string next_of(const CompileArguments &options, const Graph &graph) {
  if (options.output.empty()) return "build " + options.c_name + (options.one_file ? ".cpp" : ".c") + " into the program";
  std::string inputs;
  for (const Io &input : graph.inputs) {
    if (input.role != RNNP_ROLE_STATE && input.role != RNNP_ROLE_LENGTHS)
      inputs += " --input " + input.name + "=" + input.name + ".npy";
  }
  const std::string pruned = options.quantizer.prune.empty() ? "" : " --prune " + options.quantizer.prune;
  return "rnnpack verify " + options.model + " " + options.output + flags_of(options.inputs) + pruned + "; rnnpack inspect " +
         options.output + "; rnnpack run " + options.output + inputs;
}

// Outputs that the caller has to give as inputs of the next step.
std::string handed_on(const Graph &graph) {
  std::string text;
  for (const StatePair &pair : states_of_the_caller(graph))
    text += (text.empty() ? "" : ", ") + quote(pair.output) + " is the next " + quote(pair.input);
  return text;
}

// What was made, how it may be streamed, what to do with it.
std::string summary_of(const Compiled &compiled, const CompileArguments &options) {
  const std::string &name = options.output.empty() ? options.c_name : options.output;
  const Graph &graph = compiled.graph;
  const auto has_steps = [](const Io &io) { return std::find(io.dims.begin(), io.dims.end(), RNNP_DIM_STEPS) != io.dims.end(); };
  const bool steps = std::any_of(graph.inputs.begin(), graph.inputs.end(), has_steps);
  std::string text = "made " + name + ": " + list_text(graph.inputs) + " -> " + list_text(graph.outputs) + "; " +
                     std::to_string(graph.nodes.size()) + " nodes, " + std::to_string(compiled.blob.size()) + " bytes\n";
  if (!graph.causal) {
    text += "streams: no, it runs whole sequences: " + graph.looks_ahead + "\n";
  } else if (const std::string states = handed_on(graph); !states.empty()) {
    text += "streams: one step a call, because the caller hands its state on: " + states + "\n";
  } else {
    text += std::string("streams: yes, ") +
            (steps ? "in pieces of any number of steps" : "one call of the ONNX graph is one step") + ", with the same bits\n";
  }
  return text + "next: " + next_of(options, graph) + "\n";
}

Compiled compiled_or_what_helps(const OnnxModel &model, const CompileArguments &options, const CompileOptions &how) {
  try {
    return compile_model(model, how);
  } catch (const ModelError &refusal) {
    throw ModelError(with_what_helps(refusal.what(), options.model, options.inputs, how));
  }
}

// False: what was compiled is wrong, and standard error says where.
bool checks_itself(OnnxModel *model, const Compiled &compiled, const CompileOptions &how, bool pruned, const Progress &progress) {
  const SelfCheck check = check_compiled(model, compiled, how, pruned, progress);
  if (!check.note.empty()) std::fprintf(stderr, "note: %s\n", check.note.c_str());
  if (check.failure.empty()) return true;
  std::fprintf(
      stderr,
      "rnnpack: NOT written: what was compiled does not compute what the ONNX graph does. This is a fault of rnnpack, not of "
      "the file.\n  %s\nplease report it with the ONNX file; its weights may be replaced by random ones\n",
      check.failure.c_str());
  return false;
}

std::vector<std::string> read_paths(const CompileArguments &options) {
  std::vector<std::string> paths = {options.model};
  for (const auto *texts : {&options.quantizer.calibrate, &options.inputs.set}) {
    for (const std::string &path : paths_in(*texts)) paths.push_back(path);
  }
  return paths;
}

int run(const CompileArguments &options) {
  if (options.output.empty() && options.c_name.empty()) throw UsageError("nothing to write: give -o FILE or --emit-c NAME");
  if (options.one_file && options.c_name.empty()) throw UsageError("--one-file is said with --emit-c NAME");
  if (options.incbin && (options.c_name.empty() || options.output.empty() || options.one_file))
    throw UsageError("--incbin is said with --emit-c NAME and -o FILE, whose bytes NAME.S reads; --one-file has an array");
  const std::string code = options.c_name + (options.one_file ? ".cpp" : ".c");
  std::vector<std::string> outputs;
  if (!options.output.empty()) outputs.push_back(options.output);
  if (!options.c_name.empty()) outputs.insert(outputs.end(), {options.c_name + ".h", code});
  if (options.incbin) outputs.push_back(options.c_name + ".S");
  if (!options.quantizer.report.empty()) outputs.push_back(options.quantizer.report);
  check_distinct(read_paths(options), outputs);
  ProgressDisplay display(options.progress_lines, 3 + options.quantizer.progress_parts());
  const auto model = load_model(options.model, options.inputs);
  tell_whole(display.part("read"));
  check_distinct(model->data_files, outputs);
  CompileOptions how{options.target, state_pairs(options.inputs), options.stream_steps};
  Quantizer quantizer(options.quantizer, options.target, element_types(*model), &display);
  quantizer.prepare(&how);
  how.sparse = options.sparse;
  how.metadata = metadata_from(options.meta);
  how.onnx_metadata = !options.no_onnx_meta;
  how.winograd = options.winograd == "auto";
  const Compiled compiled = compiled_or_what_helps(*model, options, how);
  tell_whole(display.part("compile"));
  for (const std::string &note : compiled.graph.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::vector<OutputFile> files;
  std::string report;
  if (!quantizer.finish(compiled.blob.size(), &report)) return kExitVerify;
  const bool pruned = !options.quantizer.prune.empty();
  if (!options.no_check && !checks_itself(model.get(), compiled, how, pruned, display.part("check"))) return kExitVerify;
  if (!options.quantizer.report.empty()) files.push_back({options.quantizer.report, report.data(), report.size()});
  CSource source;
  if (!options.c_name.empty()) {
    source = emit_c(compiled.blob, options.c_name,
                    {chunk_steps_of(options), options.max_steps, options.incbin ? options.output : "", options.one_file});
    if (options.incbin) files.push_back({options.c_name + ".S", source.assembly.data(), source.assembly.size()});
    files.push_back({options.c_name + ".h", source.header.data(), source.header.size()});
    files.push_back({code, source.code.data(), source.code.size()});
  }
  if (!options.output.empty()) files.push_back({options.output, compiled.blob.data(), compiled.blob.size()});
  write_files(files);
  std::fprintf(stderr, "axes: %s\n%s", compiled.graph.axes.c_str(), summary_of(compiled, options).c_str());
  return kExitOk;
}

int list_operators() {
  std::printf("%s", operator_table().c_str());
  return kExitOk;
}

}  // namespace

void add_compile(CLI::App *app, Action *action) {
  auto options = std::make_shared<CompileArguments>();
  CLI::App *command = app->add_subcommand("compile", "Compile an ONNX model into a blob");
  command->add_option("model", options->model, "model.onnx; weights in a file of their own (model.onnx.data) are found beside it")
      ->required();
  command->add_option("-o,--output", options->output, "blob to write");
  command->add_option("--target", options->target, target_names() + ": the layout of the packed weights")->capture_default_str();
  add_quantizer_options(command, &options->quantizer);
  command->add_option(
      "--sparse", options->sparse,
      "keep: matrices of mostly zeros become blocks or single weights with an index each; blocks, pairs: the one or the "
      "other wherever that is fewer bytes; off: none (keep)");
  command
      ->add_option(
          "--winograd", options->winograd,
          "auto: 3 x 3 convolutions of planes become F(2x2, 3x3), 16 products in the place of 36 and 16/9 of the bytes, where "
          "that is faster; off: none")
      ->check(CLI::IsMember({"auto", "off"}))
      ->capture_default_str();
  command->add_option("--emit-c", options->c_name,
                      "also write NAME.c and NAME.h: the blob as a const array, with the sizes a static buffer needs");
  command
      ->add_option("--chunk-steps", options->chunk_steps,
                   "steps per input GEMM that --emit-c sizes the session for (1 for Cortex-M, else 16); memory grows with it")
      ->check(CLI::Range(1u, 1024u));
  command->add_flag("--one-file", options->one_file,
                    "--emit-c writes NAME.cpp instead: model, registry and the library code it needs, nothing to install or link");
  command->add_flag("--incbin", options->incbin,
                    "--emit-c writes NAME.S also, which reads the blob of -o; NAME.c has no array, which takes long to compile");
  command
      ->add_option("--max-steps", options->max_steps,
                   "longest run that --emit-c sizes the session of a model for which is not causal")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  command
      ->add_option("--stream", options->stream_steps,
                   "a streaming model: refused when the model looks ahead; sessions are sized for this many steps a call, more run "
                   "all the same")
      ->check(CLI::Range(1u, 1u << 20));
  command->add_flag("--no-check", options->no_check,
                    "do not compare the blob with the f64 evaluation of the graph before it is written; for builds that verify it "
                    "elsewhere");
  command
      ->add_option(
          "--meta", options->meta,
          "KEY=VALUE: a text that the blob carries (rnnp_model_meta), in the place of the ONNX file's of that key; nothing "
          "behind = leaves the key out; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--no-onnx-meta", options->no_onnx_meta, "carry none of the ONNX file's metadata_props");
  add_model_options(command, &options->inputs);
  add_progress_option(command, &options->progress_lines);
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

void add_operators(CLI::App *app, Action *action) {
  CLI::App *command = app->add_subcommand("operators", "List the supported operators and their limits as Markdown");
  command->callback([action] { *action = list_operators; });
}

}  // namespace rnnp::compiler
