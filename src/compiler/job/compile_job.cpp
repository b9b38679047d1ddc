// compile_job.cpp -- Contract: compile_job.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/job/compile_job.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "compiler/compile.h"
#include "compiler/emit/emit_c.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/files/files.h"
#include "compiler/ir/bind_states.h"
#include "compiler/job/compile_options.h"
#include "compiler/onnx/errors.h"
#include "compiler/options/load_model.h"
#include "compiler/options/progress_parts.h"
#include "compiler/verify/self_check.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

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

// As a shell reads it.
std::string shell_word(const std::string &text) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("_@%+=:,./-", c) != nullptr || c >= 0x80; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// The options that say which graph the file is, as they were typed.
std::string flags_of(const ModelOptions &options) {
  const std::pair<const char *, const std::vector<std::string> *> kLists[] = {
      {"--from", &options.from},    {"--to", &options.to},     {"--set", &options.set},     {"--dim", &options.dims},
      {"--shape", &options.shapes}, {"--axes", &options.axes}, {"--state", &options.states}};
  std::string text;
  for (const auto &list : kLists) {
    for (const std::string &value : *list.second) text += std::string(" ") + list.first + " " + shell_word(value);
  }
  if (options.quality) {
    char number[32];
    std::snprintf(number, sizeof number, " --quality %g", *options.quality);
    text += number;
  }
  return text;
}

std::string next_of(const CompileArguments &options, const Graph &graph) {
  if (options.output.empty()) return "build " + options.c_name + (options.one_file ? ".cpp" : ".c") + " into the program";
  std::string inputs;
  for (const Io &input : graph.inputs) {
    if (input.role != RNNP_ROLE_STATE && input.role != RNNP_ROLE_LENGTHS)
      inputs += " --input " + shell_word(input.name + "=" + input.name + ".npy");
  }
  const std::string pruned = options.quantizer.prune.empty() ? "" : " --prune " + shell_word(options.quantizer.prune);
  const std::string blob = shell_word(options.output);
  return "rnnpack verify " + shell_word(options.model) + " " + blob + flags_of(options.inputs) + pruned + "; rnnpack inspect " +
         blob + "; rnnpack run " + blob + inputs;
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
  std::string text = "made " + (name.empty() ? "a blob" : name) + ": " + list_text(graph.inputs) + " -> " +
                     list_text(graph.outputs) + "; " + std::to_string(graph.nodes.size()) + " nodes, " +
                     std::to_string(compiled.blob.size()) + " bytes\n";
  if (!graph.causal) {
    text += "streams: no, it runs whole sequences: " + graph.looks_ahead + "\n";
  } else if (const std::string states = handed_on(graph); !states.empty()) {
    text += "streams: one step a call, because the caller hands its state on: " + states + "\n";
  } else {
    text += std::string("streams: yes, ") +
            (steps ? "in pieces of any number of steps" : "one call of the ONNX graph is one step") + ", with the same bits\n";
  }
  return name.empty() ? text : text + "next: " + next_of(options, graph) + "\n";
}

void check_itself(OnnxModel *model, Compiled *compiled, const CompileOptions &how, bool pruned, const Listener &listener,
                  const Progress &progress) {
  const SelfCheck check = check_compiled(model, compiled, how, pruned, progress);
  if (!check.note.empty()) listener.say(MessageKind::kNote, check.note);
  if (check.failure.empty()) return;
  throw VerifyError(
      "NOT written: what was compiled does not compute what the model's graph does. This is a fault of rnnpack, not of "
      "the file.\n  " +
      check.failure + "\nplease report it with the model's file; its weights may be replaced by random ones");
}

std::vector<std::string> read_paths(const CompileArguments &options) {
  std::vector<std::string> paths = {options.model};
  const std::string &metric = options.quantizer.metric;
  if (metric.find('/') != std::string::npos) paths.push_back(metric);  // a name alone is looked for elsewhere
  for (const auto *texts : {&options.quantizer.calibrate, &options.inputs.set}) {
    for (const std::string &path : paths_in(*texts)) paths.push_back(path);
  }
  return paths;
}

// Files that are not written over each other, nor over what is read.
std::vector<std::string> outputs_of(const CompileArguments &options) {
  if (options.one_file && options.c_name.empty()) throw UsageError("--one-file is said with --emit-c NAME");
  if (options.incbin && (options.c_name.empty() || options.output.empty() || options.one_file))
    throw UsageError("--incbin is said with --emit-c NAME and -o FILE, whose bytes NAME.S reads; --one-file has an array");
  std::vector<std::string> outputs;
  if (!options.output.empty()) outputs.push_back(options.output);
  if (!options.c_name.empty())
    outputs.insert(outputs.end(), {options.c_name + ".h", options.c_name + (options.one_file ? ".cpp" : ".c")});
  if (options.incbin) outputs.push_back(options.c_name + ".S");
  if (!options.quantizer.report.empty()) outputs.push_back(options.quantizer.report);
  check_distinct(read_paths(options), outputs);
  return outputs;
}

void add_file(std::vector<MadeFile> *files, std::string path, const std::string &text) {
  files->push_back({std::move(path), std::vector<uint8_t>(text.begin(), text.end())});
}

void add_c_source(const Compiled &compiled, const CompileArguments &options, std::vector<MadeFile> *files) {
  const CSource source =
      emit_c(compiled.blob, options.c_name,
             {chunk_steps_of(options), options.max_steps, options.incbin ? options.output : "", options.one_file});
  if (options.incbin) add_file(files, options.c_name + ".S", source.assembly);
  add_file(files, options.c_name + ".h", source.header);
  add_file(files, options.c_name + (options.one_file ? ".cpp" : ".c"), source.code);
}

}  // namespace

OptionRows compile_options(CompileArguments *options) {
  OptionRows rows = {
      {"model", &options->model,
       "model.onnx, or a file of another kind; weights in a file of their own (model.onnx.data) are found beside it"},
      {"-o,--output", &options->output, "blob to write"},
      {"--target", &options->target, target_names() + ": the layout of the packed weights", true},
  };
  const auto add = [&](const OptionRows &more) { rows.insert(rows.end(), more.begin(), more.end()); };
  add(quantizer_options(&options->quantizer));
  add({
      {"--sparse", &options->sparse,
       "keep: matrices of mostly zeros become blocks or single weights with an index each; blocks, pairs: the one or the "
       "other wherever that is fewer bytes; off: none (keep)"},
      {"--winograd", WordOption{&options->winograd, {"auto", "off"}},
       "auto: 3 x 3 convolutions of planes become F(2x2, 3x3), 16 products in the place of 36 and 16/9 of the bytes, where "
       "that is faster; off: none",
       true},
      {"--emit-c", &options->c_name,
       "also write NAME.c and NAME.h: the blob as a const array, with the sizes a static buffer needs"},
      {"--chunk-steps", CountOption{&options->chunk_steps, 1, 1024},
       "steps per input GEMM that --emit-c sizes the session for (1 for Cortex-M, else 16); memory grows with it"},
      {"--one-file", &options->one_file,
       "--emit-c writes NAME.cpp instead: model, registry and the library code it needs, nothing to install or link"},
      {"--incbin", &options->incbin,
       "--emit-c writes NAME.S also, which reads the blob of -o; NAME.c has no array, which takes long to compile"},
      {"--max-steps", CountOption{&options->max_steps, 1, 1u << 20},
       "longest run that --emit-c sizes the session of a model for which is not causal", true},
      {"--stream", CountOption{&options->stream_steps, 1, 1u << 20},
       "a streaming model: refused when the model looks ahead; sessions are sized for this many steps a call, more run "
       "all the same"},
      {"--no-check", &options->no_check,
       "do not compare the blob with the f64 evaluation of the graph before it is written; for builds that verify it "
       "elsewhere"},
      {"--meta", &options->meta,
       "KEY=VALUE: a text that the blob carries (rnnp_model_meta), in the place of the ONNX file's of that key; nothing "
       "behind = leaves the key out; may be repeated"},
      {"--no-onnx-meta", &options->no_onnx_meta, "carry none of the ONNX file's metadata_props"},
  });
  add(model_options(&options->inputs));
  rows.push_back(
      {"--progress", &options->progress, "lines `progress: DONE of ALL` on standard error, for programs that show how far it is"});
  return rows;
}

OptionTable compile_option_table() {
  auto values = std::make_shared<CompileArguments>();
  OptionRows rows = compile_options(values.get());
  return {std::move(rows), std::move(values)};
}

CompileResult run_compile(const CompileArguments &options, const void *onnx, size_t onnx_bytes, const Listener &listener) {
  const std::vector<std::string> outputs = outputs_of(options);
  const InputLimit limit(options.quantizer.max_input);
  ProgressParts parts(listener.progress, 3 + options.quantizer.progress_parts());
  const ModelSource source{options.model, onnx, onnx_bytes};
  const auto model = load_model(source, options.inputs);
  tell_whole(parts.next());
  check_distinct(model->data_files, outputs);
  CompileOptions how{options.target, state_pairs(options.inputs, *model), options.stream_steps};
  Quantizer quantizer(options.quantizer, options.target, element_types(*model), &parts);
  quantizer.prepare(&how);
  how.sparse = options.sparse;
  how.metadata = metadata_from(options.meta);
  how.onnx_metadata = !options.no_onnx_meta;
  how.winograd = options.winograd == "auto";
  how.frees_weights = true;
  Compiled compiled = compile_model(*model, how);
  tell_whole(parts.next());
  for (const std::string &note : compiled.graph.notes) listener.say(MessageKind::kNote, note);
  const std::string report = quantizer.finish(compiled.blob.size(), listener);
  const bool pruned = !options.quantizer.prune.empty();
  if (!options.no_check) check_itself(model.get(), &compiled, how, pruned, listener, parts.next());
  CompileResult result;
  if (!options.quantizer.report.empty()) add_file(&result.files, options.quantizer.report, report);
  if (!options.c_name.empty()) add_c_source(compiled, options, &result.files);
  result.summary = "axes: " + compiled.graph.axes + "\n" + summary_of(compiled, options);
  result.files.push_back({options.output, std::move(compiled.blob)});
  return result;
}

}  // namespace rnnp::compiler
