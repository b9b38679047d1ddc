// cmd_verify.cpp -- `rnnpack verify`: the library's results against an f64 evaluation of the ONNX graph, on random inputs,
// in one call and (for causal models) in pieces, which must give the same bits.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "compiler/cli/command.h"
#include "compiler/cli/model_options.h"
#include "compiler/cli/runner.h"
#include "compiler/cli/step_eval.h"
#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

struct Options {
  std::string model, blob;
  int64_t steps = 0, batch = 0;
  uint32_t seed = 1;
  double tolerance = 1e-5;
  ModelOptions inputs;
};

const DeclaredInput &declared_input(const OnnxModel &model, const char *name) {
  for (const DeclaredInput &input : model.inputs) {
    if (input.name == name) return input;
  }
  throw ModelError("the ONNX file has no input " + quote(name) + ": the blob is not made from it");
}

// The sizes asked for, else what the file fixes, else small ones.
int64_t size_of(const OnnxModel &model, const Runner &runner, int32_t which, int64_t asked, int64_t otherwise) {
  if (asked > 0) return asked;
  bool found = false;
  for (const rnnp_tensor_facts &facts : runner.inputs()) {
    const DeclaredInput &input = declared_input(model, facts.name);
    for (uint32_t i = 0; i < facts.rank && i < input.dims.size(); ++i) {
      if (facts.dims[i] != which) continue;
      if (input.dims[i].value) return input.dims[i].value;
      found = true;
    }
  }
  if (which == RNNP_DIM_BATCH && runner.facts().fixed_batch) return runner.facts().fixed_batch;
  return found ? otherwise : 1;
}

// Steps of a model whose inputs have no steps axis: any number when it keeps its states itself.
int64_t implied_steps(const Runner &runner, int64_t asked) {
  const auto &inputs = runner.inputs();
  const bool all =
      std::all_of(inputs.begin(), inputs.end(), [](const rnnp_tensor_facts &f) { return f.role == RNNP_ROLE_SEQUENCE; });
  return asked > 0 ? asked : all ? 20 : 1;
}

// What the library starts from where the graph has an input.
void add_initial_states(const OnnxModel &model, const std::vector<StatePair> &states, int64_t batch,
                        std::map<std::string, Tensor> *tensors) {
  for (const StatePair &pair : states) {
    Shape shape;
    for (const DeclaredDim &dim : declared_input(model, pair.input.c_str()).dims) shape.push_back(dim.value ? dim.value : batch);
    (*tensors)[pair.input] = Tensor(Elem::kFloat, shape);
  }
}

Array random_array(const rnnp_tensor_facts &facts, int64_t steps, int64_t batch, bool implied, std::mt19937 *random) {
  Array array;
  if (implied && steps > 1 && facts.role == RNNP_ROLE_SEQUENCE) array.shape.push_back(steps);
  for (uint32_t i = 0; i < facts.rank; ++i) {
    array.shape.push_back(facts.dims[i] == RNNP_DIM_STEPS ? steps : facts.dims[i] == RNNP_DIM_BATCH ? batch : facts.dims[i]);
  }
  const size_t count = static_cast<size_t>(element_count(array.shape));
  array.is_int = facts.dtype == RNNP_DTYPE_I32;
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::uniform_int_distribution<int32_t> length(
      0, facts.limit != 0 ? static_cast<int32_t>(facts.limit) - 1 : static_cast<int32_t>(steps));
  for (size_t i = 0; i < count; ++i) {
    if (array.is_int)
      array.i32.push_back(length(*random));
    else
      array.f32.push_back(normal(*random));
  }
  return array;
}

// Random sizes that sum to the steps.
std::vector<size_t> random_cuts(size_t steps, std::mt19937 *random) {
  std::vector<size_t> cuts;
  while (steps > 0) {
    cuts.push_back(std::uniform_int_distribution<size_t>(1, steps)(*random));
    steps -= cuts.back();
  }
  return cuts;
}

bool compare(const std::string &name, const Array &got, const Tensor &expected, double tolerance) {
  if (static_cast<int64_t>(got.f32.size()) != expected.size()) {
    std::printf("%s: the library gives %s, the evaluation %s\n", name.c_str(), shape_text(got.shape).c_str(),
                shape_text(expected.shape).c_str());
    return false;
  }
  double worst = 0, worst_relative = 0;
  bool good = true;
  for (size_t i = 0; i < got.f32.size(); ++i) {
    const double want = expected.data[i], have = static_cast<double>(got.f32[i]);
    if (want == have || (std::isnan(want) && std::isnan(have))) continue;
    const double error = std::fabs(want - have), relative = error / std::max(1.0, std::fabs(want));
    worst = std::isnan(error) ? error : std::max(worst, error);
    worst_relative = std::isnan(error) ? error : std::max(worst_relative, relative);
    good = good && relative <= tolerance;
  }
  std::printf("%s %s: max abs error %.3g, max relative error %.3g%s\n", name.c_str(), shape_text(got.shape).c_str(), worst,
              worst_relative, good ? "" : "  FAILED");
  return good;
}

bool same_bits(const Array &a, const Array &b) {
  return a.shape == b.shape && std::memcmp(a.f32.data(), b.f32.data(), a.f32.size() * sizeof(float)) == 0;
}

int run(const Options &options) {
  const auto model = load_model(options.model, options.inputs);
  Runner runner(read_file(options.blob));
  const std::vector<StatePair> states = state_pairs(options.inputs);
  const Graph graph = compile_graph(*model, {"generic", states});
  if (model_id(graph) != runner.facts().model_id) {
    std::printf("the blob is not made from this ONNX file (their model ids differ)\n");
    return kExitVerify;
  }
  const bool implied = steps_are_implied(runner), by_steps = implied || !graph.states.empty();
  const int64_t steps = implied ? implied_steps(runner, options.steps) : size_of(*model, runner, RNNP_DIM_STEPS, options.steps, 20),
                batch = size_of(*model, runner, RNNP_DIM_BATCH, options.batch, 2);
  std::mt19937 random(options.seed);
  Arrays inputs;
  std::map<std::string, Tensor> tensors;
  for (const rnnp_tensor_facts &facts : runner.inputs()) {
    inputs[facts.name] = random_array(facts, steps, batch, implied, &random);
    tensors[facts.name] = to_tensor(inputs[facts.name]);
  }
  if (!by_steps) add_initial_states(*model, states, batch, &tensors);
  const auto expected = by_steps ? eval_steps(*model, runner, inputs, states, steps, batch) : eval_graph(*model, tensors);
  RunOptions how;
  const Arrays whole = runner.run(inputs, how);
  bool good = true;
  for (const auto &output : whole)
    good = compare(output.first, output.second, expected.at(output.first), options.tolerance) && good;
  if (runner.facts().causal && steps > 1) {
    how.cuts = random_cuts(static_cast<size_t>(steps), &random);
    const Arrays pieces = runner.run(inputs, how);
    for (const auto &output : whole) {
      if (same_bits(output.second, pieces.at(output.first))) continue;
      std::printf("%s: %zu calls give other bits than one call  FAILED\n", output.first.c_str(), how.cuts.size());
      good = false;
    }
  }
  std::printf("%s: %lld steps, batch %lld, tolerance %g\n", good ? "verified" : "NOT verified", static_cast<long long>(steps),
              static_cast<long long>(batch), options.tolerance);
  return good ? kExitOk : kExitVerify;
}

}  // namespace

void add_verify(CLI::App *app, Action *action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app->add_subcommand("verify", "Compare a blob with an f64 evaluation of the ONNX graph on random inputs");
  command->add_option("onnx", options->model, "model.onnx")->required();
  command->add_option("blob", options->blob, "model.rnnp")->required();
  command->add_option("--steps", options->steps, "steps; default: what the file fixes, else 20")->check(CLI::Range(1, 1 << 24));
  command->add_option("--batch", options->batch, "batch rows; default: what the file fixes, else 2")->check(CLI::Range(1, 1 << 16));
  command->add_option("--seed", options->seed, "of the random inputs")->capture_default_str();
  command->add_option("--tolerance", options->tolerance, "largest error, relative to max(1, |expected|)")->capture_default_str();
  add_model_options(command, &options->inputs);
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
