// cmd_verify.cpp -- `rnnpack verify`: the library's results against an f64 evaluation of the ONNX graph, on the user's inputs or on
// random ones, in one call and (for causal models) in pieces, which must give the same bits.
// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>

#include "compiler/cli/array_files.h"
#include "compiler/cli/command.h"
#include "compiler/cli/comparison.h"
#include "compiler/cli/draw.h"
#include "compiler/cli/exact_check.h"
#include "compiler/cli/model_options.h"
#include "compiler/cli/numbers.h"
#include "compiler/cli/progress_display.h"
#include "compiler/cli/runner.h"
#include "compiler/cli/step_eval.h"
#include "compiler/cli/verify_sizes.h"
#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/problem.h"
#include "compiler/quantize/prune.h"

namespace rnnp::compiler {
namespace {

struct VerifyArguments {
  std::string model, blob;
  std::vector<std::string> inputs;
  std::string prune;
  int64_t steps = 0, batch = 0;
  uint32_t seed = 1;
  double deviation = 1;
  std::optional<double> tolerance, accuracy_min;
  ModelOptions graph;
  bool progress_lines = false;
};

constexpr double kTolerance = 1e-5;

using Tensors = std::map<std::string, Tensor>;
// One blob, the graph it was made from, and how the two are evaluated.
struct Subject {
  const VerifyArguments &options;
  Runner runner;
  std::vector<StatePair> states;
  bool implied, by_steps;
  Progress evaluating;
  std::string differs;  // why errors are measured rather than judged; empty: they are judged
};

// What the blob does not do as the graph has it.
std::string difference(const VerifyArguments &options, const Runner &runner, const OnnxModel &model) {
  if (runner.has_low_precision()) return "weights of fewer bits than f32";
  if (!options.prune.empty()) return "weights that are left out (--prune)";
  const auto rounds = [&](const onnx::NodeProto &node) {
    const bool quantises = node.op_type() == "QuantizeLinear" || node.op_type() == "DynamicQuantizeLinear";
    return quantises && node.input_size() != 0 && model.constants.count(node.input(0)) == 0;
  };
  const auto &nodes = model.proto.graph().node();
  return std::any_of(nodes.begin(), nodes.end(), rounds) ? "the graph rounds values that the blob keeps in f32" : "";
}

// What the library starts from where the graph has an input.
void add_initial_states(const OnnxModel &model, const std::vector<StatePair> &states, int64_t batch, Tensors *tensors) {
  for (const StatePair &pair : states) {
    Shape shape;
    for (const DeclaredDim &dim : declared_input(model, pair.input.c_str()).dims) shape.push_back(dim.value ? dim.value : batch);
    (*tensors)[pair.input] = Tensor(Elem::kFloat, shape);
  }
}

Tensors evaluate(const Subject &subject, const OnnxModel &model, const Arrays &inputs, const RunSizes &sizes) {
  if (subject.by_steps)
    return eval_steps(model, subject.runner, inputs, subject.states, sizes.steps, sizes.batch, subject.evaluating);
  Tensors tensors;
  for (const auto &input : inputs) tensors[input.first] = to_tensor(input.second);
  add_initial_states(model, subject.states, sizes.batch, &tensors);
  return eval_graph(model, tensors, subject.evaluating);
}

Arrays complete(const Subject &subject, const OnnxModel &model, const Arrays &given, const RunSizes &sizes) {
  std::mt19937 random(subject.options.seed);
  Arrays inputs = given;
  for (const rnnp_tensor_info &facts : subject.runner.inputs()) {
    const bool in_front = subject.implied && sizes.steps > 1 && facts.role == RNNP_ROLE_SEQUENCE;
    const DeclaredInput &declared = declared_input(model, facts.name);
    Array drawn = draw_array(facts, declared.elem_type, sizes.steps, sizes.batch, in_front, subject.options.deviation, &random);
    drawn.shape = shape_in_file(facts, declared.dims.size(), std::move(drawn.shape));
    inputs.emplace(facts.name, std::move(drawn));
  }
  return inputs;
}

void say_inputs(const Subject &subject, const OnnxModel &model, const Arrays &given, const Arrays &inputs, const RunSizes &sizes) {
  for (const rnnp_tensor_info &facts : subject.runner.inputs()) {
    const std::string from = given.count(facts.name) ? "as given"
                                                     : draw_text(facts, declared_input(model, facts.name).elem_type, sizes.steps,
                                                                 subject.options.deviation) +
                                                           ", seed " + std::to_string(subject.options.seed);
    std::printf("input %s %s: %s\n", facts.name, shape_text(inputs.at(facts.name).shape).c_str(), from.c_str());
  }
}

// Every weight and input off by four roundings of f32: what is then lost, no f32 arithmetic can keep.
Tensors evaluate_disturbed(const Subject &subject, Arrays inputs, const RunSizes &sizes) {
  constexpr double kStep = 1.0 / (1 << 22);
  const auto model = load_model(subject.options.model, subject.options.graph);
  std::mt19937 random(subject.options.seed);
  const auto factor = [&] { return random() & 1 ? 1 + kStep : 1 - kStep; };
  for (auto &constant : model->constants) {
    if (constant.second->elem != Elem::kFloat || constant.second->size() < 2) continue;
    auto moved = std::make_shared<Tensor>(*constant.second);
    for (double &v : moved->data) v *= factor();
    constant.second = moved;
  }
  for (auto &input : inputs) {
    for (float &v : input.second.f32) v = static_cast<float>(static_cast<double>(v) * factor());
  }
  return evaluate(subject, *model, inputs, sizes);
}

// The library's outputs beside those of the evaluation.
struct Results {
  RunSizes sizes;
  Arrays inputs, whole;
  Tensors expected;
};

// At the first sizes at which the ONNX graph itself can be evaluated.
Results run_both(Subject *subject, const OnnxModel &model, const Arrays &given, const std::vector<int64_t> &steps,
                 const std::vector<int64_t> &batches) {
  std::string refused;
  for (const int64_t s : steps) {
    for (const int64_t b : batches) {
      Results results;
      results.sizes = {s, b};
      results.inputs = complete(*subject, model, given, results.sizes);
      results.whole = subject->runner.run(results.inputs, {});
      try {
        results.expected = evaluate(*subject, model, results.inputs, results.sizes);
      } catch (const std::runtime_error &error) {
        refused += "the ONNX graph itself cannot be evaluated at " + sizes_text(results.sizes) + ": " + error.what() + "\n";
        continue;
      }
      std::printf("%s", refused.c_str());
      return results;
    }
  }
  throw UsageError(refused + "choose sizes it can run at with --steps and --batch, or give --input");
}

bool all_finite(const Arrays &arrays) {
  for (const auto &array : arrays) {
    if (!std::all_of(array.second.f32.begin(), array.second.f32.end(), [](float v) { return std::isfinite(v); })) return false;
  }
  return true;
}

// Holds every output against its evaluation and says what was found.
class Judge {
 public:
  Judge(const Subject &subject, const Results &results) : subject_(subject), results_(results) {}

  bool outputs_agree() {
    bool good = true;
    const bool rounded = !subject_.differs.empty();
    if (rounded)
      std::printf("%s: errors are measured, and judged only by --accuracy-min or --tolerance\n", subject_.differs.c_str());
    for (const auto &output : results_.whole) {
      const Tensor &expected = results_.expected.at(output.first);
      const Comparison result = compare(output.second, expected);
      std::string more;
      const bool agrees = rounded ? is_accurate(result, &more) : result.agrees(allowed(output.first, result, &more));
      std::printf("%s%s\n%s", comparison_text(output.first, output.second, expected, result).c_str(), agrees ? "" : "  FAILED",
                  more.c_str());
      good = good && agrees;
      elements_ += result.elements;
      not_finite_ += result.not_finite;
    }
    return good;
  }

  // NaN in, NaN out is a result like any other; out of finite inputs it is none that anybody wants.
  bool something_was_compared() const {
    if (not_finite_ == 0 || !all_finite(results_.inputs)) return true;
    if (not_finite_ < elements_) {
      std::printf(
          "WARNING: finite inputs give NaN or infinity in %zu of %zu elements, in the library and in the evaluation alike; "
          "these say nothing about the blob\n",
          not_finite_, elements_);
      return true;
    }
    std::printf(
        "finite inputs give nothing but NaN and infinity, in the library and in the evaluation alike: nothing was compared. "
        "Give inputs that the network is made for: --input NAME=x.npy, or a smaller --deviation\n");
    return false;
  }

 private:
  bool is_accurate(const Comparison &result, std::string *more) {
    char text[128];
    std::snprintf(text, sizeof text, "  SQNR %.1f dB, rms error %.3g\n", result.sqnr(),
                  std::sqrt(result.noise / std::max<double>(1, static_cast<double>(result.elements - result.not_finite))));
    *more = text;
    if (!result.same_size || result.one_sided != 0) return false;
    if (subject_.options.tolerance && result.worst_relative > *subject_.options.tolerance) return false;
    return !subject_.options.accuracy_min || !(result.sqnr() < *subject_.options.accuracy_min);
  }

  // The tolerance asked for, else kTolerance, or more where the graph turns roundings into more.
  double allowed(const std::string &name, const Comparison &result, std::string *more) {
    if (subject_.options.tolerance) return *subject_.options.tolerance;
    if (!result.same_size || result.one_sided != 0 || result.worst_relative <= kTolerance) return kTolerance;
    constexpr double kSlack = 4, kMost = 1e-2;
    if (disturbed_.empty()) disturbed_ = evaluate_disturbed(subject_, results_.inputs, results_.sizes);
    const double moved = distance(results_.expected.at(name), disturbed_.at(name)), bound = std::max(kTolerance, kSlack * moved);
    char text[512];
    if (bound > kMost) {
      std::snprintf(
          text, sizeof text,
          "  the network amplifies: the evaluation moves by %.3g when weights and inputs move by 2^-22 of themselves, so no "
          "comparison at these inputs means anything. Give inputs that it is made for (--input NAME=x.npy), fewer --steps or "
          "a smaller --deviation\n",
          moved);
      *more = text;
      return kTolerance;
    }
    std::snprintf(text, sizeof text,
                  "  allowed are %.3g: the evaluation moves by %.3g when weights and inputs move by 2^-22 of themselves\n", bound,
                  moved);
    *more = text;
    return bound;
  }

  const Subject &subject_;
  const Results &results_;
  Tensors disturbed_;
  size_t elements_ = 0, not_finite_ = 0;
};

// Random sizes that sum to the steps.
std::vector<size_t> random_cuts(size_t steps, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<size_t> cuts;
  while (steps > 0) {
    cuts.push_back(std::uniform_int_distribution<size_t>(1, std::max<size_t>(1, steps / 2))(random));
    steps -= cuts.back();
  }
  return cuts;
}

bool cuts_agree(Subject *subject, const Results &results) {
  if (!subject->runner.facts().causal || results.sizes.steps < 2) {
    std::printf("not cut into calls: %s\n", results.sizes.steps < 2 ? "it is one step" : "the model looks ahead");
    return true;
  }
  std::string report;
  const bool good = pieces_agree(
      results.whole, random_cuts(static_cast<size_t>(results.sizes.steps), subject->options.seed),
      [&](const std::vector<size_t> &cuts) {
        RunOptions how;
        how.cuts = cuts;
        return subject->runner.run(results.inputs, how);
      },
      &report);
  std::printf("%s", report.c_str());
  return good;
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

int run(const VerifyArguments &options) {
  ProgressDisplay display(options.progress_lines, 3);
  const auto model = load_model(options.model, options.graph);
  Subject subject{options, Runner(read_file(options.blob), quote(options.blob)), state_pairs(options.graph), false, false, {}, {}};
  Graph graph = compile_graph(*model, {"generic", subject.states});
  if (!options.prune.empty()) prune(&graph, pruning_named(options.prune));
  if (model_id(graph) != subject.runner.facts().model_id) {
    std::printf(
        "the blob is not made from this ONNX file with these options (their model ids differ): compile it anew, and give verify "
        "the --set, --dim, --shape, --axes, --state and --prune that compile had\n");
    return kExitVerify;
  }
  tell_whole(display.part("read"));
  subject.differs = difference(options, subject.runner, *model);
  subject.evaluating = display.part("evaluation");
  const Arrays given = read_inputs(options.inputs, subject.runner.inputs());
  subject.implied = steps_are_implied(subject.runner);
  // States that operators over time keep begin anew with every evaluation of the graph, as those of layers do.
  subject.by_steps = subject.implied || std::any_of(graph.states.begin(), graph.states.end(), [&](const KeptState &state) {
                       return std::any_of(subject.states.begin(), subject.states.end(),
                                          [&](const StatePair &pair) { return pair.input == state.name; });
                     });
  const auto steps = subject.implied ? implied_steps_to_try(subject.runner, given, options.steps)
                                     : sizes_to_try(*model, subject.runner, given, RNNP_DIM_STEPS, options.steps, 20);
  const auto batches = sizes_to_try(*model, subject.runner, given, RNNP_DIM_BATCH, options.batch, 2);
  const Results results = run_both(&subject, *model, given, steps, batches);
  say_inputs(subject, *model, given, results.inputs, results.sizes);
  Judge judge(subject, results);
  bool good = judge.outputs_agree();
  good = judge.something_was_compared() && good;
  good = cuts_agree(&subject, results) && good;
  if (subject.runner.has_low_precision() || !options.prune.empty()) {
    std::string report;
    good = is_exact(&subject.runner, results.inputs, &report) && good;
    std::printf("%s", report.c_str());
  }
  tell_whole(display.part("checks"));
  std::string measure = ", tolerance " + short_text(options.tolerance.value_or(kTolerance));
  if (!subject.differs.empty() && !options.tolerance)
    measure = options.accuracy_min ? ", at least " + short_text(*options.accuracy_min) + " dB" : ", errors as measured";
  std::printf("%s: %s%s\n", good ? "verified" : "NOT verified", sizes_text(results.sizes).c_str(), measure.c_str());
  return good ? kExitOk : kExitVerify;
}

}  // namespace

void add_verify(CLI::App *app, Action *action) {
  auto options = std::make_shared<VerifyArguments>();
  CLI::App *command =
      app->add_subcommand("verify", "Compare a blob with an f64 evaluation of the ONNX graph, on random inputs or on given ones");
  command->add_option("onnx", options->model, "model.onnx")->required();
  command->add_option("blob", options->blob, "model.rnnp")->required();
  add_input_option(command, &options->inputs, "; what is not given is drawn at random; may be repeated");
  command->add_option("--steps", options->steps, "steps; default: those of the inputs, what the file fixes, else 20")
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--batch", options->batch, "batch rows; default: those of the inputs, what the file fixes, else 2")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--seed", options->seed, "of the random inputs and of where the run is cut")->capture_default_str();
  command->add_option("--deviation", options->deviation, "standard deviation of the random inputs, around 0")
      ->check(above_zero())
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance,
                   "largest error, relative to max(1, |expected|); default: 1e-5, or more where the network amplifies roundings")
      ->check(not_negative());
  command
      ->add_option("--accuracy-min", options->accuracy_min,
                   "smallest signal-to-noise ratio of every output, in dB, of a blob whose weights have fewer bits than f32")
      ->check(finite_number());
  command->add_option("--prune", options->prune, "what compile was given");
  add_model_options(command, &options->graph);
  add_progress_option(command, &options->progress_lines);
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
