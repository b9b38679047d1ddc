// joint_check.cpp -- Contract: joint_check.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/joint_check.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/compile.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/eval/evaluated_layer.h"
#include "compiler/eval/range_watch.h"
#include "compiler/eval/roundings.h"
#include "compiler/onnx/errors.h"
#include "compiler/onnx/tensor_text.h"
#include "compiler/quantize/choose_storage.h"

namespace rnnp::compiler {
namespace {

constexpr double kSampledWork = 4e6;  // multiply-adds in f64 a node: some milliseconds
constexpr double kLayerWork = 4e7;    // of a recurrent layer at most, of which one sample is some steps
constexpr double kWholeWork = 4e6;    // nodes up to here are evaluated whole
constexpr double kMostAmplified = 1e-2, kMostApart = 1e-3;

// What a node's output is as a joint; a layer of whose results the file takes the last one alone has a name for all of them.
std::string joint_name(const OnnxNode &node, int output) {
  const int last = node.output_size() - 1;
  if (last < output) return "";
  if (!node.output(output).empty() || output != 0 || !RecurrentLayer::is(node.op_type())) return node.output(output);
  return node.output(last) + " (all steps of its layer)";
}

std::set<std::string> joint_names(const OnnxModel &model) {
  std::set<std::string> names;
  for (const OnnxNode *node : model.nodes) {
    if (!can_be_sampled(node->op_type())) continue;
    names.insert(joint_name(*node, 0));
    if (node->op_type() == "LSTM") names.insert(joint_name(*node, 2));
  }
  for (const std::string &output : model.outputs) names.erase(output);
  names.erase("");
  return names;
}

// The model with joints while it lives.
class WithJoints {
 public:
  WithJoints(OnnxModel *model, const std::set<std::string> &names) : model_(model) {
    model_->joints.assign(names.begin(), names.end());
    for (OnnxNode &node : *model_->graph.mutable_node()) {
      if (node.output_size() == 0 || !node.output(0).empty() || names.count(joint_name(node, 0)) == 0) continue;
      unnamed_.push_back(&node);
      node.set_output(0, joint_name(node, 0));
    }
  }
  ~WithJoints() {
    model_->joints.clear();
    for (OnnxNode *node : unnamed_) node->set_output(0, "");
  }
  WithJoints(const WithJoints &) = delete;
  WithJoints &operator=(const WithJoints &) = delete;

 private:
  OnnxModel *model_;
  std::vector<OnnxNode *> unnamed_;
};

double relative_error(double got, double want) {
  return std::fabs(got - want) / std::max(1.0, std::fabs(want));
}

Tensor tensor_of(const Array &array, const Shape &shape) {
  Tensor out(Elem::kFloat, shape);
  std::copy(array.f32.begin(), array.f32.end(), out.data.begin());
  return out;
}

}  // namespace

// What was drawn of one node, and what the library made there.
struct JointCheck::Drawn {
  const OnnxNode *node = nullptr;
  std::map<size_t, Shape> shapes;          // of its outputs
  std::map<size_t, size_t> made_elements;  // in the library's
  std::vector<Sample> samples;
  std::vector<float> made;
};

JointCheck::JointCheck(OnnxModel *model, const std::vector<StatePair> &states, const BlobCheck &check)
    : check_(check), joints_(joint_names(*model)) {
  const auto graph_of = [&] {
    const WithJoints with(model, joints_);
    return with_f32_weights(compile_graph(*model, {"generic", states}));
  };
  Graph graph = graph_of();
  // A joint may be the first step of a run alone, which streams have no use for.
  if (!graph.no_state.empty()) {
    joints_.clear();
    graph = graph_of();
  }
  runner_ = std::make_unique<Runner>(write_blob_and_free(&graph, dense_panels(DType::kF32, panel_width("generic"))),
                                     "the blob with joints");
}

EvalInstead JointCheck::joints(const Arrays &probed, uint32_t seed, bool disturbed, DrawnNodes *drawn) const {
  auto random = std::make_shared<std::mt19937>(seed);
  return [=, &probed](const OnnxNode &node, const std::vector<const Tensor *> &in) -> std::optional<std::vector<Tensor>> {
    if (!can_be_sampled(node.op_type()) || probed.count(joint_name(node, 0)) == 0) return std::nullopt;
    EvalCall call{node, Attributes(node), check_.model().opset, in, std::vector<Tensor>(static_cast<size_t>(node.output_size()))};
    const std::unique_ptr<SampledNode> sampled = sampled_node(call);
    if (sampled->work() <= kWholeWork) return std::nullopt;
    Drawn result;
    result.node = &node;
    std::map<size_t, const Array *> arrays;
    bool fits = true;
    for (size_t i = 0; i < call.out.size(); ++i) {
      if (!sampled->takes(i)) continue;
      const auto found = probed.find(joint_name(node, static_cast<int>(i)));
      if (found == probed.end()) return std::nullopt;
      arrays[i] = &found->second;
      result.shapes[i] = sampled->shape(i);
      result.made_elements[i] = found->second.f32.size();
      fits = fits && static_cast<int64_t>(found->second.f32.size()) == element_count(result.shapes[i]);
    }
    if (!fits) {
      drawn->push_back(std::move(result));
      return std::nullopt;
    }
    for (const auto &array : arrays) {
      call.out[array.first] = tensor_of(*array.second, result.shapes[array.first]);
      for (double &v : call.out[array.first].data) v = disturbed ? Roundings::moved(v, random.get()) : v;
    }
    const bool layer = RecurrentLayer::is(node.op_type());
    const double most = layer ? std::clamp(sampled->work() / 50, kSampledWork, kLayerWork) : kSampledWork;
    result.samples = sampled->draw(most, seed + static_cast<uint32_t>(drawn->size()), call.out[0]);
    for (const Sample &sample : result.samples) result.made.push_back(arrays[sample.output]->f32[static_cast<size_t>(sample.at)]);
    drawn->push_back(std::move(result));
    sampled->follow(&call);
    return std::move(call.out);
  };
}

// The first sample that is further off than roundings are, or, where a graph rounds values, a node whose samples are another
// function's. Empty: none.
std::string JointCheck::samples_differ(const DrawnNodes &drawn, const std::function<DrawnNodes()> &disturbed) const {
  DrawnNodes moved;
  const bool rounded = rounds_values(check_.model());
  for (size_t n = 0; n < drawn.size(); ++n) {
    const Drawn &node = drawn[n];
    const std::string title = "node " + quote(node_title(*node.node)) + " (" + node.node->op_type() + ")";
    for (const auto &output : node.shapes) {
      const size_t made = node.made_elements.at(output.first);
      if (static_cast<int64_t>(made) != element_count(output.second))
        return title + " gives " + std::to_string(made) + " elements, the graph " + shape_text(output.second);
    }
    double signal = 0, noise = 0;
    std::string first;
    for (size_t i = 0; i < node.samples.size(); ++i) {
      const Sample &sample = node.samples[i];
      const double got = static_cast<double>(node.made[i]);
      if (!std::isfinite(sample.value) || !std::isfinite(sample.magnitude) || sample.magnitude > 1e37) continue;
      signal += sample.value * sample.value;
      noise += (got - sample.value) * (got - sample.value);
      double allowed = kTolerance * std::max(1.0, std::fabs(sample.value)) + kRounding * sample.magnitude;
      if (!first.empty() || std::fabs(got - sample.value) <= allowed) continue;
      if (!rounded) {
        if (moved.empty()) moved = disturbed();
        const double apart = relative_error(moved[n].samples[i].value, sample.value);
        if (apart > kMostAmplified || relative_error(got, sample.value) <= 4 * apart) continue;
      }
      const Shape &shape = node.shapes.at(sample.output);
      first = title + ", element " + index_text(shape, static_cast<size_t>(sample.at)) + " of " + shape_text(shape) + " is " +
              number_text(got) + ", where the graph gives " + number_text(sample.value);
    }
    const bool noisy = !rounded || !(10 * std::log10(signal / noise) >= kLeastSqnr);
    if (!first.empty() && noisy) return first;
  }
  return "";
}

// The blob beside the one with joints: other fusions of the same graph.
std::string JointCheck::blob_differs(const BothRuns &runs, const Arrays &probed, uint32_t seed) const {
  Arrays moved;
  for (const auto &output : runs.whole) {
    const auto other = probed.find(output.first);
    if (other == probed.end()) return "output " + quote(output.first) + " is not among those of the blob with joints";
    const Comparison result = compare(output.second, tensor_of(other->second, other->second.shape));
    if (output.second.shape == other->second.shape && result.agrees(kTolerance)) continue;
    double allowed = kTolerance;
    if (result.is_comparable()) {
      if (moved.empty()) {
        Arrays inputs = runs.inputs;
        std::mt19937 random(seed);
        for (auto &input : inputs) {
          for (float &v : input.second.f32) v = static_cast<float>(Roundings::moved(static_cast<double>(v), &random));
        }
        moved = runner_->run(inputs, {});
      }
      const double apart = compare(moved.at(output.first), tensor_of(other->second, other->second.shape)).worst_relative;
      allowed = std::min(std::max(kTolerance, 16 * apart), kMostApart);
      if (16 * apart > kMostAmplified || result.agrees(allowed)) continue;
      if (rounds_values(check_.model()) && result.sqnr() >= kLeastSqnr) continue;
    }
    return "output " + quote(output.first) + ", element " + index_text(output.second.shape, result.worst_at) + " is " +
           number_text(output.second.f32[result.worst_at]) + ", and " + number_text(other->second.f32[result.worst_at]) +
           " where the nodes before it are outputs, too; accepted is an error of " + number_text(allowed);
  }
  return "";
}

std::optional<JointFinding> JointCheck::at(const BothRuns &runs, const BothRuns *blob, uint32_t seed, const Progress &progress,
                                           std::string *refused) const {
  JointFinding out;
  const Arrays probed = runner_->run(runs.inputs, {});
  if (blob) out.failure = blob_differs(*blob, blob == &runs ? probed : runner_->run(blob->inputs, {}), seed);
  if (!out.failure.empty()) return out;
  DrawnNodes drawn;
  BothRuns held{runs.sizes, runs.inputs, {}, {}};
  for (const rnnp_tensor_info &output : check_.runner().outputs()) held.whole.insert(*probed.find(output.name));
  try {
    const RangeWatch watch;
    held.expected = check_.evaluate(runs, progress, joints(probed, seed, false, &drawn));
    out.beyond_range = watch.node();
  } catch (const std::runtime_error &error) {
    *refused = error.what();
    return std::nullopt;
  }
  Tensors disturbed_outputs;
  const auto disturbed = [&] {
    DrawnNodes again;
    disturbed_outputs = check_.evaluate_disturbed(runs, seed, joints(probed, seed, true, &again));
    return again;
  };
  out.failure = samples_differ(drawn, disturbed);
  for (const Drawn &node : drawn) out.samples += node.samples.size();
  out.nodes = drawn.size();
  for (const auto &output : held.whole) {
    if (!out.failure.empty()) break;
    const Comparison result = check_.compare_output(held, output.first);
    out.says_something = out.says_something || result.not_finite < result.elements;
    if (result.agrees(kTolerance)) continue;
    if (is_lost_to_range(result, out.beyond_range)) {
      out.says_something = false;
      break;
    }
    if (result.is_comparable()) {
      if (disturbed_outputs.empty()) disturbed();
      const double apart = distance(held.expected.at(output.first), disturbed_outputs.at(output.first));
      if (apart > kMostAmplified || result.agrees(4 * apart)) continue;
      if (rounds_values(check_.model()) && result.sqnr() >= kLeastSqnr) continue;
    }
    out.failure = "output " + quote(output.first) + " of shape " + shape_text(output.second.shape) + ", element " +
                  index_text(output.second.shape, result.worst_at) + " is " + number_text(output.second.f32[result.worst_at]) +
                  ", where the graph gives " + number_text(held.expected.at(output.first).data[result.worst_at]) +
                  " from the layers before it";
  }
  out.expected = std::move(held.expected);
  return out;
}

RunSizes sizes_by_joints(const std::vector<RunSizes> &offered, double work) {
  const auto of = [&](const RunSizes &s) { return work * static_cast<double>(s.steps) * static_cast<double>(s.batch); };
  for (const RunSizes &sizes : offered) {
    if (sizes.steps > 1 && of(sizes) <= 2e9) return sizes;
  }
  return *std::min_element(offered.begin(), offered.end(), [&](const RunSizes &a, const RunSizes &b) {
    const bool short_a = a.steps < 2 && of(a) <= 2e9, short_b = b.steps < 2 && of(b) <= 2e9;
    return short_a != short_b ? short_b : of(a) < of(b);
  });
}

}  // namespace rnnp::compiler
