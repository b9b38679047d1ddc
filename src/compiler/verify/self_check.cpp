// self_check.cpp -- Contract: self_check.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/self_check.h"

#include <algorithm>
#include <set>

#include "compiler/emit/write_blob.h"
#include "compiler/onnx/errors.h"
#include "compiler/onnx/tensor_text.h"
#include "compiler/quantize/choose_storage.h"
#include "compiler/verify/check_blob.h"
#include "compiler/verify/comparison.h"
#include "compiler/verify/exact_check.h"
#include "compiler/verify/joint_check.h"

namespace rnnp::compiler {

bool has_jumps(const OnnxGraph &graph) {
  static const std::set<std::string> kJumps = {
      "ArgMax",         "ArgMin",         "Cast",    "Ceil", "DynamicQuantizeLinear", "Equal", "Floor",
      "Greater",        "GreaterOrEqual", "Hardmax", "Less", "LessOrEqual",           "Mod",   "NonZero",
      "QuantizeLinear", "Round",          "Shrink",  "Sign", "ThresholdedRelu",       "TopK"};
  return std::any_of(graph.node().begin(), graph.node().end(), [](const OnnxNode &node) {
    return kJumps.count(node.op_type()) != 0 || std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto &a) {
             return a.type() == OnnxAttribute::kGraph && has_jumps(a.g());
           });
  });
}

namespace {

// Results of the first two are compared where they exist; more where the graph cannot be evaluated at them.
const std::vector<int64_t> kSteps = {12, 7, 20, 33, 3, 100, 400, 2, 1}, kBatches = {2, 3, 1};

Shape without_ones(Shape shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

// Inputs of other kinds follow where results are not finite or amplified, small ones where f32 is too small for what they make.
const RandomInputs kKinds[] = {{1, 1, false, true}, {2, 0.5, true, true}, {3, 0.1, false, true}, {4, 1e-3, false, true}};

enum class Finding { kAgrees, kDiffers, kSaysNothing };

// One blob held against the evaluation at all sizes.
class Comparing {
 public:
  Comparing(OnnxModel *model, const std::vector<StatePair> &states, const BlobCheck &check, const Graph &graph,
            const Progress &progress)
      : model_(model),
        graph_states_(states),
        check_(check),
        short_runs_(graph.short_runs),
        work_(work_per_step(graph)),
        progress_(progress),
        jumps_(has_jumps(check.model().graph)),
        rounded_(rounds_values(check.model())) {
    const Runner &runner = check.runner();
    steps_ = check.has_implied_steps() ? (implied_steps_are_open(runner) ? kSteps : std::vector<int64_t>{1})
                                       : sizes_to_try(check.model(), runner, RNNP_DIM_STEPS, kSteps);
    batches_ = sizes_to_try(check.model(), runner, RNNP_DIM_BATCH, kBatches);
  }

  SelfCheck run() {
    SelfCheck out;
    const std::optional<RunSizes> first = at_first_sizes(all_sizes(), true, &out);
    if (!first) {
      if (out.failure.empty()) by_joints(&out);
      return out;
    }
    first_ = runs_;
    std::optional<RunSizes> second;
    if (out.failure.empty())
      second = at_first_sizes(beyond_range_.empty() ? other_sizes(*first) : fewer_steps(*first), false, &out);
    if (out.failure.empty()) at_one_step(*first, second, &out);
    return out;
  }

  // What was compared at the first sizes.
  const std::optional<BothRuns> &first() const { return first_; }

 private:
  bool is_affordable(const RunSizes &sizes) const {
    constexpr double kMost = 4e8;  // a few tenths of a second
    return work_ * static_cast<double>(sizes.steps) * static_cast<double>(sizes.batch) <= kMost;
  }

  std::vector<RunSizes> all_sizes() const {
    std::vector<RunSizes> out;
    for (const int64_t s : steps_) {
      for (const int64_t b : batches_) out.push_back({s, b});
    }
    return out;
  }

  // As much as possible differs from the first sizes.
  std::vector<RunSizes> other_sizes(const RunSizes &first) const {
    std::vector<RunSizes> out = all_sizes();
    const auto differing = [&](const RunSizes &s) { return 2 * int(s.steps != first.steps) + int(s.batch != first.batch); };
    out.erase(std::remove_if(out.begin(), out.end(), [&](const RunSizes &s) { return differing(s) == 0; }), out.end());
    std::stable_sort(out.begin(), out.end(), [&](const RunSizes &a, const RunSizes &b) { return differing(a) > differing(b); });
    return out;
  }

  // What grows from step to step stays in range for fewer.
  std::vector<RunSizes> fewer_steps(const RunSizes &first) const {
    std::vector<RunSizes> out = all_sizes();
    out.erase(
        std::remove_if(out.begin(), out.end(), [&](const RunSizes &s) { return s.steps >= std::min<int64_t>(first.steps, 4); }),
        out.end());
    return out;
  }

  std::optional<RunSizes> at_first_sizes(const std::vector<RunSizes> &candidates, bool all_optional, SelfCheck *out) {
    for (const RunSizes &sizes : candidates) {
      if (!is_affordable(sizes)) continue;
      if (at(sizes, all_optional, out)) return sizes;
      if (!out->failure.empty()) return std::nullopt;
    }
    return std::nullopt;
  }

  // What is too much work to be evaluated whole.
  void by_joints(SelfCheck *out) {
    std::vector<RunSizes> offered = all_sizes();
    const auto is_left_out = [&](const RunSizes &s) { return is_affordable(s) || (check_.takes_single_steps() && s.steps != 1); };
    offered.erase(std::remove_if(offered.begin(), offered.end(), is_left_out), offered.end());
    if (offered.empty() && refused_.empty()) offered.push_back({1, batches_[0]});
    try {
      for (int tries = 0; tries < 3 && !offered.empty(); ++tries) {
        const JointCheck joints(model_, graph_states_, check_);
        const RunSizes sizes = sizes_by_joints(offered, work_);
        if (joints_agree(joints, sizes, tries == 0 ? progress_ : Progress(), out)) return;
        const auto is_tried = [&](const RunSizes &s) { return s.steps == sizes.steps && s.batch == sizes.batch; };
        offered.erase(std::remove_if(offered.begin(), offered.end(), is_tried), offered.end());
      }
    } catch (const ModelError &error) {
      refused_ = std::string("with the results of its layers as outputs, too, it is refused: ") + error.what();
    }
    out->note = "not checked: " + refused_;
  }

  // False: the graph cannot be evaluated at these sizes.
  bool joints_agree(const JointCheck &joints, const RunSizes &sizes, const Progress &progress, SelfCheck *out) {
    std::string failure;
    bool says_something = false;
    beyond_range_.clear();
    for (uint32_t seed = 1; seed <= 3 && !says_something; ++seed) {
      RandomInputs kind = kKinds[failure.empty() ? seed - 1 : 0];
      kind.seed = seed;
      runs_ = check_.drawn({}, sizes, kind);
      first_ = check_.start({}, {steps_of_runs(sizes), sizes.batch}, kind);
      std::string refused;
      const std::optional<JointFinding> finding = joints.at(*runs_, &*first_, seed, seed == 1 ? progress : Progress(), &refused);
      if (!finding) {
        if (refused_.empty()) refused_ = refused.substr(0, refused.find('\n'));
        return false;
      }
      failure = finding->failure;
      beyond_range_ = finding->beyond_range;
      // Of what jumps, one element that falls to the other side is no fault.
      says_something = failure.empty() ? finding->says_something : !jumps_ || rounded_;
    }
    if (!failure.empty()) {
      out->failure = "at " + sizes_text(sizes) + ", of samples: " + failure;
    } else {
      if (!says_something)
        out->note = beyond_range_.empty()
                        ? "not checked: at random inputs its results are not finite"
                        : "not checked: at random inputs values leave the range of float32, first at " + beyond_range_;
      pieces(*first_, out);
    }
    return true;
  }

  // What runs are compared with each other by: where no step needs later ones, some tell of all that the file fixes.
  int64_t steps_of_runs(const RunSizes &sizes) const {
    constexpr double kMost = 5e8;
    const auto &inputs = check_.runner().inputs();
    const bool is_open = std::any_of(inputs.begin(), inputs.end(), [](const rnnp_tensor_info &facts) {
      return std::find(facts.dims, facts.dims + facts.rank, RNNP_DIM_STEPS) != facts.dims + facts.rank;
    });
    const double fewer = std::max(8.0, kMost / (work_ * static_cast<double>(sizes.batch)));
    return is_open && check_.runner().facts().causal ? std::min(static_cast<int64_t>(fewer), sizes.steps) : sizes.steps;
  }

  // An axis of one element is not always the steps, and a run may be shorter than a window.
  void at_one_step(const RunSizes &first, const std::optional<RunSizes> &second, SelfCheck *out) {
    const RunSizes one = {1, first.batch};
    const bool is_open = std::find(steps_.begin(), steps_.end(), 1) != steps_.end();
    if (is_open && first.steps != 1 && !(second && second->steps == 1) && is_affordable(one)) at(one, false, out);
  }

  // False: the graph cannot be evaluated at these sizes.
  bool at(const RunSizes &sizes, bool all_optional, SelfCheck *out) {
    bool agreed = false, lost = false;
    beyond_range_.clear();
    for (RandomInputs kind : kKinds) {
      kind.all_optional = all_optional;
      std::string differs;
      const std::optional<Finding> finding = of_kind(sizes, kind, &differs);
      if (!finding) return false;
      if (*finding == Finding::kDiffers) {
        if (sizes.steps < short_runs_.fewest) throw ModelError(short_runs_.refusal);
        out->failure = "at " + sizes_text(sizes) + ": " + differs;
        return true;
      }
      agreed = agreed || *finding == Finding::kAgrees;
      lost = lost || (!agreed && amplifies_);
      if (agreed && is_whole_) break;
    }
    if (agreed) beyond_range_.clear();
    if (!beyond_range_.empty())
      out->note =
          "not checked at " + sizes_text(sizes) + ": at random inputs values leave the range of float32, first at " + beyond_range_;
    else if (lost && agreed)
      out->note = "checked with small inputs alone: of larger ones the graph amplifies roundings too much to be compared";
    else if (!agreed)
      out->note = "not checked: at random inputs its results are not finite, or amplify roundings too much to be compared";
    pieces(*runs_, out);
    return true;
  }

  // Where a rounding may make one element jump, only what differs for several seeds does.
  std::optional<Finding> of_kind(const RunSizes &sizes, RandomInputs kind, std::string *differs) {
    const int seeds = jumps_ && !rounded_ ? 3 : 1;
    Finding finding = Finding::kDiffers;
    for (int i = 0; i < seeds && finding == Finding::kDiffers; ++i, kind.seed += 10) {
      std::string refused;
      runs_ = check_.run({}, sizes, kind, {}, &refused);
      if (!runs_) {
        if (refused_.empty()) refused_ = refused.substr(0, refused.find('\n'));
        return std::nullopt;
      }
      finding = judge(*runs_, kind.seed, differs);
    }
    return finding;
  }

  Finding judge(const BothRuns &runs, uint32_t seed, std::string *what) {
    Allowances allowances(check_, runs, seed);
    size_t elements = 0, not_finite = 0;
    bool leaves_range = false;
    amplifies_ = false;
    for (const auto &output : runs.whole) {
      Comparison result = check_.compare_output(runs, output.first);
      // Squeeze without axes drops the axis of one step, too.
      result.same_shape = result.same_shape || (runs.sizes.steps == 1 && without_ones(output.second.shape) ==
                                                                             without_ones(runs.expected.at(output.first).shape));
      elements += result.elements;
      not_finite += result.not_finite + (rounded_ ? result.undefined : 0);
      if (result.agrees(kTolerance)) continue;
      if (is_lost_to_range(result, runs.beyond_range)) {
        beyond_range_ = runs.beyond_range;
        leaves_range = true;
        continue;
      }
      const Allowance allowance = rounded_ ? Allowance() : allowances.of(output.first, result);
      amplifies_ = amplifies_ || !allowance.says_something;
      if (!allowance.says_something || result.agrees(allowance.bound)) continue;
      if (rounded_ && result.is_comparable(true) && result.sqnr() >= kLeastSqnr) continue;
      *what = difference_text(output.first, runs, result, rounded_, allowance.bound);
      return Finding::kDiffers;
    }
    is_whole_ = not_finite == 0;
    return amplifies_ || leaves_range || (not_finite == elements && elements != 0) ? Finding::kSaysNothing : Finding::kAgrees;
  }

  static std::string difference_text(const std::string &name, const BothRuns &runs, const Comparison &result, bool rounded,
                                     double bound) {
    const Array &got = runs.whole.at(name);
    const Tensor &expected = runs.expected.at(name);
    std::string text = "output " + quote(name) + " of shape " + shape_text(got.shape);
    if (!result.same_size || !result.same_shape) return text + ", where the graph gives " + shape_text(expected.shape);
    text += ", element " + index_text(got.shape, result.worst_at) + " is " + number_text(got.f32[result.worst_at]) +
            ", where the graph gives " + number_text(expected.data[result.worst_at]);
    return text + (rounded ? "; the whole has " + number_text(result.sqnr()) + " dB, accepted: " + number_text(kLeastSqnr)
                           : "; accepted is an error of " + number_text(bound));
  }

  // Calls of other sizes, and chunks of another one, must give the same bits.
  void pieces(const BothRuns &runs, SelfCheck *out) const {
    const size_t steps = static_cast<size_t>(runs.sizes.steps);
    if (!check_.runner().facts().causal || steps < 2) return;
    std::string report;
    bool good = cuts_agree(check_, runs, random_cuts(steps, static_cast<uint32_t>(steps)), &report);
    good = cuts_agree(check_, runs, std::vector<size_t>(steps, 1), &report) && good;
    if (!good) out->failure = "at " + sizes_text(runs.sizes) + ": " + report;
  }

  OnnxModel *model_;
  const std::vector<StatePair> &graph_states_;
  const BlobCheck &check_;
  const ShortRuns short_runs_;
  const double work_;
  const Progress progress_;
  const bool jumps_, rounded_;
  std::vector<int64_t> steps_, batches_;
  std::optional<BothRuns> runs_, first_;
  std::string refused_;
  std::string beyond_range_;  // of the last sizes: why they say nothing
  bool is_whole_ = true;      // the last judged run had finite numbers only
  bool amplifies_ = false;    // and results of it say nothing for their roundings
};

constexpr double kMostExact = 2e8;  // multiply-adds of layers that are evaluated exactly; of more, parts are

// Layers of low precision, bit for bit as their exact evaluation, and the whole in pieces.
void check_low_precision(Runner *lent, OnnxModel *model, const Graph &graph, const std::vector<StatePair> &states,
                         const BothRuns &runs, SelfCheck *out) {
  Runner &runner = *lent;
  const BlobCheck check(model, graph, states, &runner);
  BothRuns own{runs.sizes, runs.inputs, runner.run(runs.inputs, {}), {}};
  for (const auto &output : runs.whole) {
    const auto found = own.whole.find(output.first);
    if (found == own.whole.end() || found->second.shape != output.second.shape)
      out->failure = "output " + quote(output.first) + " has another shape than with f32 weights";
  }
  std::string report;
  const size_t steps = static_cast<size_t>(runs.sizes.steps);
  const bool in_pieces = runner.facts().causal && steps > 1;
  if (in_pieces && !cuts_agree(check, own, random_cuts(steps, 1), &report)) out->failure = report;
  if (!is_exact(&runner, runs.inputs, kMostExact, &report)) out->failure = report;
  if (!out->failure.empty()) out->failure = "at " + sizes_text(runs.sizes) + ": " + out->failure;
}

// A blob that is run where it lies, and given back.
class LentBlob {
 public:
  explicit LentBlob(std::vector<uint8_t> *blob) : blob_(blob), runner_(std::move(*blob)) {}
  ~LentBlob() { *blob_ = runner_.take_blob(); }
  LentBlob(const LentBlob &) = delete;
  LentBlob &operator=(const LentBlob &) = delete;
  Runner &runner() { return runner_; }

 private:
  std::vector<uint8_t> *blob_;
  Runner runner_;
};

SelfCheck check_by_weights(OnnxModel *model, Compiled *compiled, const CompileOptions &how, bool pruned, const Progress &progress) {
  LentBlob lent(&compiled->blob);
  std::optional<Graph> plain;
  if (pruned) plain = compile_graph(*model, how);
  if (!pruned && lent.runner().has_low_precision()) plain = with_f32_weights(compiled->graph);
  std::unique_ptr<Runner> of_plain;
  if (plain) of_plain = std::make_unique<Runner>(write_blob_and_free(&*plain, dense_panels(DType::kF32, panel_width(how.target))));
  const Graph &graph = plain ? *plain : compiled->graph;
  const BlobCheck check(model, graph, how.states, plain ? of_plain.get() : &lent.runner());
  Comparing comparing(model, how.states, check, graph, progress);
  SelfCheck out = comparing.run();
  if (out.failure.empty() && comparing.first() && plain)
    check_low_precision(&lent.runner(), model, compiled->graph, how.states, *comparing.first(), &out);
  return out;
}

}  // namespace

SelfCheck check_compiled(OnnxModel *model, Compiled *compiled, const CompileOptions &how, bool pruned, const Progress &progress) {
  SelfCheck out;
  try {
    out = check_by_weights(model, compiled, how, pruned, progress);
  } catch (const IoError &error) {
    out.failure = error.what();
  }
  tell_whole(progress);
  return out;
}

}  // namespace rnnp::compiler
