// verify.cpp -- Contract: verify.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "compiler/files/array_files.h"
#include "compiler/files/files.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/errors.h"
#include "compiler/options/load_model.h"
#include "compiler/options/progress_parts.h"
#include "compiler/verify/check_blob.h"
#include "compiler/verify/comparison.h"
#include "compiler/verify/exact_check.h"
#include "compiler/verify/joint_check.h"
#include "compiler/verify/random_inputs.h"
#include "compiler/verify/verify_sizes.h"

namespace rnnp::compiler {
namespace {

// One blob, the graph it was made from, and how the two are compared.
struct VerifiedBlob {
  const VerifyRequest &options;
  const BlobCheck &check;
  std::string differs;  // why errors are measured rather than judged; empty: they are judged
  const Listener &listener;

  void say(const std::string &text) const { listener.say(MessageKind::kReport, text); }
};

// What the blob does not do as the graph has it.
std::string difference(const VerifyRequest &options, const Runner &runner, const OnnxModel &model) {
  if (runner.has_low_precision()) return "low-precision weights than f32";
  if (!options.prune.empty()) return "weights that are left out (--prune)";
  return rounds_values(model) ? "the graph rounds values that the blob keeps in f32" : "";
}

void say_inputs(const VerifiedBlob &subject, const Arrays &given, const BothRuns &runs) {
  for (const rnnp_tensor_info &facts : subject.check.runner().inputs()) {
    const int elem_type = declared_input(subject.check.model(), facts.name).elem_type;
    const std::string from = given.count(facts.name) ? "as given"
                                                     : draw_text(facts, elem_type, runs.sizes.steps, subject.options.deviation) +
                                                           ", seed " + std::to_string(subject.options.seed);
    subject.say(std::string("input ") + facts.name + " " + shape_text(runs.inputs.at(facts.name).shape) + ": " + from + "\n");
  }
}

// At the first sizes at which the ONNX graph itself can be evaluated.
BothRuns run_both(const VerifiedBlob &subject, const Arrays &given, const std::vector<int64_t> &steps,
                  const std::vector<int64_t> &batches, const Progress &progress) {
  std::string refused;
  const RandomInputs random{subject.options.seed, subject.options.deviation};
  for (const int64_t s : steps) {
    for (const int64_t b : batches) {
      std::string why;
      if (std::optional<BothRuns> runs = subject.check.run(given, {s, b}, random, progress, &why)) {
        if (!refused.empty()) subject.say(refused);
        return std::move(*runs);
      }
      refused += why;
    }
  }
  throw UsageError(refused + "choose sizes it can run at with --steps and --batch, or give --input");
}

constexpr double kMostWork = 8e9, kMostExactWork = 5e8;  // multiply-adds that are evaluated whole: some seconds

// Nothing where the graph cannot be evaluated at these sizes or says nothing there.
std::optional<BothRuns> run_by_joints(const VerifiedBlob &subject, OnnxModel *model, const std::vector<StatePair> &states,
                                      const Arrays &given, RunSizes sizes, const Progress &progress, bool *good) {
  if (subject.check.takes_single_steps()) sizes.steps = 1;
  const JointCheck joints(model, states, subject.check);
  BothRuns runs = subject.check.start(given, sizes, {subject.options.seed, subject.options.deviation});
  std::string refused;
  const std::optional<JointFinding> found =
      joints.at(runs, subject.differs.empty() ? &runs : nullptr, subject.options.seed, progress, &refused);
  if (!found || (found->failure.empty() && !found->says_something)) return std::nullopt;
  say_inputs(subject, given, runs);
  subject.say("evaluated by samples, as the whole is much work: " + std::to_string(found->samples) + " of " +
              std::to_string(found->nodes) + " layers, each from what came in; all else is evaluated\n");
  for (const auto &output : found->expected) {
    const Array &got = runs.whole.at(output.first);
    const Comparison result = compare(got, output.second);
    subject.say(comparison_text(output.first, got, output.second, result) + "\n");
    char sqnr[48];
    std::snprintf(sqnr, sizeof sqnr, "  SQNR %.1f dB\n", result.sqnr());
    if (!subject.differs.empty()) subject.say(sqnr);
  }
  *good = found->failure.empty();
  if (!*good) subject.say(found->failure + "  FAILED\n");
  return runs;
}

constexpr const char *kWhatHelps = "Give inputs that it is made for (--input NAME=x.npy), fewer --steps or a smaller --deviation\n";

// Holds every output against its evaluation and says what was found.
class Judge {
 public:
  Judge(const VerifiedBlob &subject, const BothRuns &runs)
      : subject_(subject), runs_(runs), allowances_(subject.check, runs, subject.options.seed) {}

  bool outputs_agree() {
    bool good = true;
    const bool rounded = !subject_.differs.empty();
    if (rounded) subject_.say(subject_.differs + ": errors are measured, and judged only by --accuracy-min or --tolerance\n");
    for (const auto &output : runs_.whole) {
      const Tensor &expected = runs_.expected.at(output.first);
      const Comparison result = subject_.check.compare_output(runs_, output.first);
      std::string more;
      const bool lost =
          is_lost_to_range(result, runs_.beyond_range) && (rounded ? !result.is_comparable() : !subject_.options.tolerance);
      if (lost) more = "  " + left_range() + ", so no comparison at these inputs means anything. " + kWhatHelps;
      const bool agrees = !lost && (rounded ? is_accurate(result, &more) : result.agrees(allowed(output.first, result, &more)));
      subject_.say(comparison_text(output.first, output.second, expected, result) + (agrees ? "" : "  FAILED") + "\n" + more);
      good = good && agrees;
      elements_ += result.elements;
      not_finite_ += result.not_finite;
    }
    return good;
  }

  std::string left_range() const { return "values leave the range of float32, first at " + runs_.beyond_range; }

  // NaN in, NaN out is a result like any other, as long as there are others; out of finite inputs it is none that anybody wants.
  bool something_was_compared() const {
    const bool nothing = elements_ != 0 && not_finite_ == elements_, finite_inputs = all_finite(runs_.inputs);
    if (not_finite_ == 0 || (!nothing && !finite_inputs)) return true;
    const std::string why = runs_.beyond_range.empty() ? "" : ": " + left_range();
    if (!nothing) {
      subject_.say("WARNING: finite inputs give NaN or infinity in " + std::to_string(not_finite_) + " of " +
                   std::to_string(elements_) +
                   " elements, in the library and in the evaluation alike; these say nothing about the blob" + why + "\n");
      return true;
    }
    subject_.say((finite_inputs ? "finite inputs" : "inputs with NaN or infinity") +
                 std::string(" give nothing but NaN and infinity, in the library and in the evaluation alike") + why +
                 "; nothing was compared. " + kWhatHelps);
    return false;
  }

 private:
  bool is_accurate(const Comparison &result, std::string *more) {
    char text[128];
    std::snprintf(text, sizeof text, "  SQNR %.1f dB, rms error %.3g\n", result.sqnr(),
                  std::sqrt(result.noise / std::max<double>(1, static_cast<double>(result.elements - result.not_finite))));
    *more = text;
    if (!result.is_comparable(rounds_values(subject_.check.model()))) return false;
    if (subject_.options.tolerance && result.worst_relative > *subject_.options.tolerance) return false;
    if (subject_.options.accuracy_min) return !(result.sqnr() < *subject_.options.accuracy_min);
    if (!rounds_values(subject_.check.model()) || result.sqnr() >= kLeastSqnr || result.worst_relative <= kTolerance) return true;
    std::snprintf(text, sizeof text, "  below %g dB: the blob does not compute what the graph rounds to\n", kLeastSqnr);
    *more += text;
    return false;
  }

  // The tolerance asked for, else the derived one.
  double allowed(const std::string &name, const Comparison &result, std::string *more) {
    if (subject_.options.tolerance) return *subject_.options.tolerance;
    const Allowance allowance = allowances_.of(name, result);
    char text[512] = "";
    if (!allowance.says_something) {
      std::snprintf(
          text, sizeof text,
          "  the network amplifies: the evaluation moves by %.3g when all it reads and computes moves by 2^-22 of itself, so no "
          "comparison at these inputs means anything. %s",
          allowance.moved, kWhatHelps);
    } else if (allowance.moved != 0) {
      std::snprintf(text, sizeof text,
                    "  allowed are %.3g: the evaluation moves by %.3g when all it reads and computes moves by 2^-22 of itself\n",
                    allowance.bound, allowance.moved);
    }
    *more = text;
    return allowance.bound;
  }

  const VerifiedBlob &subject_;
  const BothRuns &runs_;
  Allowances allowances_;
  size_t elements_ = 0, not_finite_ = 0;
};

bool cut_run_agrees(const VerifiedBlob &subject, const BothRuns &runs) {
  if (!subject.check.runner().facts().causal || runs.sizes.steps < 2) {
    subject.say(std::string("not cut into calls: ") + (runs.sizes.steps < 2 ? "it is one step" : "the model looks ahead") + "\n");
    return true;
  }
  std::string report;
  const bool good =
      cuts_agree(subject.check, runs, random_cuts(static_cast<size_t>(runs.sizes.steps), subject.options.seed), &report);
  subject.say(report);
  return good;
}

}  // namespace

bool verify(const VerifyRequest &options, const Listener &listener) {
  ProgressParts parts(listener.progress, 3);
  const auto model = load_model(options.model, options.graph);
  Runner runner(read_file(options.blob), quote(options.blob));
  const std::vector<StatePair> states = state_pairs(options.graph, *model);
  const std::optional<Graph> made_from = graph_of_blob(*model, options.graph, options.prune, runner.facts().model_id);
  if (!made_from) {
    listener.say(
        MessageKind::kReport,
        "the blob is not made from this ONNX file with these options (their model ids differ): compile it anew, and give verify "
        "the --set, --dim, --shape, --axes, --state and --prune that compile had\n");
    return false;
  }
  const Graph &graph = *made_from;
  tell_whole(parts.next());
  const BlobCheck check(model.get(), graph, states, &runner);
  const VerifiedBlob subject{options, check, difference(options, runner, *model), listener};
  const Arrays given = read_inputs(options.inputs, runner.inputs());
  const auto steps = check.has_implied_steps()
                         ? implied_steps_to_try(runner, given, options.steps, usual_steps(work_per_step(graph)))
                         : sizes_to_try(*model, runner, given, RNNP_DIM_STEPS, options.steps, usual_steps(work_per_step(graph)));
  const auto batches = sizes_to_try(*model, runner, given, RNNP_DIM_BATCH, options.batch, 2);
  std::optional<BothRuns> sampled;
  bool good = true;
  if (!options.tolerance && !options.accuracy_min && work_per_step(graph) * double(steps[0]) * double(batches[0]) > kMostWork)
    sampled = run_by_joints(subject, model.get(), states, given, {steps[0], batches[0]}, parts.next(), &good);
  const bool by_joints = sampled.has_value();
  const BothRuns runs = by_joints ? std::move(*sampled) : run_both(subject, given, steps, batches, parts.next());
  if (!by_joints) {
    say_inputs(subject, given, runs);
    Judge judge(subject, runs);
    good = judge.outputs_agree();
    good = judge.something_was_compared() && good;
  }
  good = cut_run_agrees(subject, runs) && good;
  if (runner.has_low_precision() || !options.prune.empty()) {
    std::string report;
    good = is_exact(&runner, runs.inputs, by_joints ? kMostExactWork : kAllWork, &report) && good;
    subject.say(report);
  }
  tell_whole(parts.next());
  std::string measure = ", tolerance " + number_text(options.tolerance.value_or(kTolerance));
  if (!subject.differs.empty() && !options.tolerance)
    measure = options.accuracy_min ? ", at least " + number_text(*options.accuracy_min) + " dB" : ", errors as measured";
  subject.say((good ? "verified: " : "NOT verified: ") + sizes_text(runs.sizes) + measure + "\n");
  return good;
}

}  // namespace rnnp::compiler
