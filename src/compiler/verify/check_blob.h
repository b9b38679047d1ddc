// check_blob.h -- a blob run by the public API and compared with the f64 evaluation of its ONNX graph: what `verify` and
// the check at the end of `compile` share. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_CHECK_BLOB_H_
#define RNNPACK_COMPILER_VERIFY_CHECK_BLOB_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/eval/eval.h"
#include "compiler/eval/progress.h"
#include "compiler/ir/bind_states.h"
#include "compiler/ir/graph.h"
#include "compiler/onnx/model_file.h"
#include "compiler/run/runner.h"
#include "compiler/verify/comparison.h"
#include "compiler/verify/verify_sizes.h"

namespace rnnp::compiler {

using Tensors = std::map<std::string, Tensor>;

// How inputs that nobody gave are made.
struct RandomInputs {
  uint32_t seed = 1;
  double deviation = 1;
  bool positive = false;     // real numbers without their signs
  bool all_optional = true;  // false: no states and no lengths, so the library starts from zeros and runs all steps
};

// The library's outputs and those of the evaluation.
struct BothRuns {
  RunSizes sizes;
  Arrays inputs;  // what the library was given
  Arrays whole;   // its outputs, of one call
  Tensors expected;
  std::string beyond_range = {};  // the first node whose numbers f32 has not, and its step; else empty
};

// Numbers that f32 has not, on the way to an output that differs: f32 may give anything there.
bool is_lost_to_range(const Comparison &result, const std::string &beyond_range);

class BlobCheck {
 public:
  // `graph`: what the blob was written from; `states`: what --state ties. All of them must outlive it.
  BlobCheck(OnnxModel *model, const Graph &graph, const std::vector<StatePair> &states, Runner *runner);

  const OnnxModel &model() const { return *model_; }
  Runner &runner() const { return *runner_; }
  // One call of the ONNX graph is one step: no input has an axis of steps.
  bool has_implied_steps() const { return implied_; }

  // Steps are evaluated one by one: a state goes from each to the next.
  bool takes_single_steps() const { return by_steps_; }

  // What the library is given, not yet what it makes of it.
  BothRuns drawn(const Arrays &given, const RunSizes &sizes, const RandomInputs &random) const;
  // And that, not yet what is expected.
  BothRuns start(const Arrays &given, const RunSizes &sizes, const RandomInputs &random) const;
  Tensors evaluate(const BothRuns &runs, const Progress &progress, const EvalInstead &instead = {}) const;
  // Nothing where the ONNX graph itself cannot be evaluated at these sizes; then *refused says why.
  std::optional<BothRuns> run(const Arrays &given, const RunSizes &sizes, const RandomInputs &random, const Progress &progress,
                              std::string *refused) const;
  // The evaluation with every weight, input and computed value off by four roundings of f32 (eval/roundings.h).
  Tensors evaluate_disturbed(const BothRuns &runs, uint32_t seed, const EvalInstead &instead = {}) const;

  // Compares an output, its shape included.
  Comparison compare_output(const BothRuns &runs, const std::string &name) const;

 private:
  Arrays complete(const Arrays &given, const RunSizes &sizes, const RandomInputs &random) const;
  Arrays optional_filled(Arrays inputs, const RunSizes &sizes) const;
  void add_unread(const RunSizes &sizes, Tensors *tensors) const;
  Tensors evaluate_at(const Arrays &inputs, const RunSizes &sizes, const Progress &progress, const EvalInstead &instead) const;

  OnnxModel *model_;
  const std::vector<StatePair> &states_;
  const std::vector<Io> &unread_;
  Runner *runner_;
  bool implied_, by_steps_;
};

constexpr double kTolerance = 1e-5;  // relative to max(1, |expected|), where the graph does not amplify
constexpr double kLeastSqnr = 20;    // dB, where the graph rounds values: less is another function

// The tolerance that an output is compared with: kTolerance, or more where the graph turns roundings into more.
struct Allowance {
  double bound = kTolerance;
  double moved = 0;            // how far the disturbed evaluation is from the plain one; 0: not asked for
  bool says_something = true;  // false: the network amplifies so much that no comparison at these inputs means anything
};
class Allowances {
 public:
  Allowances(const BlobCheck &check, const BothRuns &runs, uint32_t seed) : check_(check), runs_(runs), seed_(seed) {}
  Allowance of(const std::string &name, const Comparison &result);

 private:
  const BlobCheck &check_;
  const BothRuns &runs_;
  uint32_t seed_;
  std::vector<Tensors> disturbed_;
};

// Multiply-adds, and elements made, per step and row: by it, not by a clock, is decided what is evaluated.
double work_per_step(const Graph &graph);

// Whether the ONNX graph rounds what it computes (QuantizeLinear of a value that is no constant).
bool rounds_values(const OnnxModel &model);

bool all_finite(const Arrays &arrays);

// Random sizes that sum to the steps.
std::vector<size_t> random_cuts(size_t steps, uint32_t seed);
// Whether the run cut into calls has the bits of one call; adds a line to *report.
bool cuts_agree(const BlobCheck &check, const BothRuns &runs, const std::vector<size_t> &cuts, std::string *report);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_CHECK_BLOB_H_
