// rtneural.cpp -- Contract: rtneural.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rtneural/rtneural.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/eval/eval.h"
#include "compiler/graph_builder/built_layers.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostFeatures = 1 << 20;
constexpr size_t kMostLayers = 1000;

// One layer of the list.
class RtneuralLayer {
 public:
  RtneuralLayer(const JsonValue &json, std::string name, BuiltLayers *layers)
      : json_(json), name_(std::move(name)), layers_(layers) {}

  void add() {
    static const std::map<std::string, void (RtneuralLayer::*)()> kTypes = {
        {"dense", &RtneuralLayer::dense}, {"time-distributed-dense", &RtneuralLayer::dense},
        {"conv1d", &RtneuralLayer::conv}, {"gru", &RtneuralLayer::gru},
        {"lstm", &RtneuralLayer::lstm},   {"batchnorm", &RtneuralLayer::batch_norm},
        {"prelu", &RtneuralLayer::prelu}, {"activation", &RtneuralLayer::nothing}};
    const std::string type = json_.at("type").text();
    const auto found = kTypes.find(type);
    if (found == kTypes.end()) {
      std::string accepted;
      for (const auto &each : kTypes) accepted += (accepted.empty() ? "" : ", ") + each.first;
      json_.at("type").refuse("layers of type " + quote(type) + " are not supported; accepted: " + accepted);
    }
    (this->*found->second)();
    check_features();
    if (type == "gru" || type == "lstm") return;  // theirs are inside
    const auto activation = json_.find("activation");
    if (activation && !layers_->activation(name_ + ".activation", activation->text()))
      activation->refuse("the activation " + quote(activation->text()) + " is not supported");
  }

 private:
  void check_features() const {
    const JsonValue shape = json_.at("shape");
    if (shape.size() == 0) shape.refuse("it is empty");
    const JsonValue last = shape[shape.size() - 1];
    if (last.integer(1, kMostFeatures) != layers_->features())
      last.refuse("it is " + std::to_string(last.integer(1, kMostFeatures)) + ", and the weights make " +
                  std::to_string(layers_->features()));
  }

  size_t weight_count() const { return json_.at("weights").size(); }
  Weights weights(size_t i) const {
    Weights out;
    const JsonValue array = json_.at("weights")[i];
    out.data = array.numbers(&out.shape);
    if (out.data.empty()) array.refuse("it is empty");
    return out;
  }

  // A setting that is a number, or a list of one.
  int64_t setting(const char *key) const {
    const auto found = json_.find(key);
    if (!found) return 1;
    return (found->is_array() ? (*found)[0] : *found).integer(1, kMostFeatures);
  }

  void dense() { layers_->dense(name_, weights(0), weight_count() > 1 ? weights(1).data : std::vector<float>()); }

  void conv() {
    Weights kernel = weights(0);  // [taps, in / groups, out], the oldest step first
    if (kernel.shape.size() != 3) json_.at("weights")[0].refuse("three dimensions are expected: [taps, in, out]");
    const size_t taps = static_cast<size_t>(kernel.shape[0]), in = static_cast<size_t>(kernel.shape[1]),
                 out = static_cast<size_t>(kernel.shape[2]);
    if (setting("kernel_size") != kernel.shape[0]) json_.at("kernel_size").refuse("the weights have another number of taps");
    if (setting("strides") != 1) json_.at("strides").refuse("a stride of 1 is expected");
    Weights turned{{kernel.shape[2], kernel.shape[1], kernel.shape[0]}, std::vector<float>(kernel.data.size())};
    for (size_t k = 0; k < taps; ++k) {
      for (size_t i = 0; i < in; ++i) {
        for (size_t o = 0; o < out; ++o) turned.data[(o * in + i) * taps + k] = kernel.data[(k * in + i) * out + o];
      }
    }
    layers_->conv(name_, turned, weight_count() > 1 ? weights(1).data : std::vector<float>(),
                  {setting("dilation"), 1, setting("groups")});
  }

  void recurrent(Recurrence kind) {
    const auto activation = json_.find("activation");
    if (activation && !activation->text().empty() && activation->text() != "tanh") activation->refuse("recurrent layers have tanh");
    layers_->recurrent(name_, of_keras(json_.path(), kind, weights(0), weights(1), weights(2)));
  }
  void gru() {
    if (weights(2).shape.size() != 2) json_.at("weights")[2].refuse("two rows are expected: of the input and of the state");
    recurrent(Recurrence::kGru);
  }
  void lstm() { recurrent(Recurrence::kLstm); }

  void batch_norm() {
    const bool affine = weight_count() == 4;
    if (!affine && weight_count() != 2) json_.at("weights").refuse("two or four arrays are expected");
    const size_t first = affine ? 2 : 0;
    layers_->batch_norm(name_, affine ? weights(0).data : std::vector<float>(), affine ? weights(1).data : std::vector<float>(),
                        weights(first).data, weights(first + 1).data, json_.at("epsilon").number());
  }

  void prelu() { layers_->prelu(name_, weights(0).data); }
  void nothing() {}

  JsonValue json_;
  std::string name_;
  BuiltLayers *layers_;
};

void multiply(BuiltLayers *layers, const std::string &name, const std::optional<JsonValue> &decibels) {
  constexpr double kMost = 200;
  if (!decibels || decibels->number() == 0) return;
  if (std::fabs(decibels->number()) > kMost) decibels->refuse("it is beyond 200 dB");
  GraphBuilder &graph = layers->graph();
  const float factor = static_cast<float>(std::pow(10.0, decibels->number() / 20));
  layers->use(graph.node("Mul", {layers->value(), graph.constant(name + ".factor", {}, {factor})}, name), layers->features());
}

std::optional<JsonValue> number_in(const JsonValue &file, const char *key) {
  const auto found = file.find(key);
  return found && found->is_number() ? found : std::nullopt;
}

// The input is added to the output where they are as wide.
void add_skip(const JsonValue &skip, const std::string &input, int64_t inputs, BuiltLayers *layers) {
  if (skip.integer(0, 1) == 0) return;
  if (inputs != layers->features())
    skip.refuse("the input has " + std::to_string(inputs) + " features, the output " + std::to_string(layers->features()));
  layers->use(layers->graph().node("Add", {layers->value(), input}, "with_input"), layers->features());
}

// The outputs that the file says its inputs give, from the zero state.
void check_test_vector(const JsonValue &file, const OnnxModel &model) {
  constexpr double kTolerance = 1e-4;
  const auto inputs = file.find("input_batch"), outputs = file.find("output_batch");
  if (!inputs || !outputs) return;
  const std::vector<float> x = inputs->numbers(), y = outputs->numbers();
  const int64_t features = model.inputs[0].dims[2].value, steps = static_cast<int64_t>(x.size()) / features;
  if (steps == 0 || static_cast<size_t>(steps * features) != x.size()) inputs->refuse("no whole steps are in it");
  Tensor input(Elem::kFloat, {1, steps, features});
  input.data.assign(x.begin(), x.end());
  const Budget budget("checking the file's test vector", evaluation_limits(model.file_bytes, input.size()));
  const Tensor got = eval_graph(model, {{model.inputs[0].name, input}}).at(model.outputs[0]);
  if (got.data.size() != y.size())
    outputs->refuse("it has " + std::to_string(y.size()) + " elements, the network makes " + std::to_string(got.data.size()));
  for (size_t i = 0; i < y.size(); ++i) {
    const double wanted = static_cast<double>(y[i]);
    if (std::fabs(got.data[i] - wanted) <= kTolerance * std::max(1.0, std::fabs(wanted))) continue;
    outputs->refuse("its element " + std::to_string(i) + " is " + std::to_string(wanted) + ", and the network makes " +
                    std::to_string(got.data[i]) + ": the file's test vector is not of its weights");
  }
}

void add_metadata(const JsonValue &file, GraphBuilder *graph) {
  const auto metadata = file.find("metadata");
  if (!metadata || !metadata->is_object()) return;
  for (const auto &member : metadata->json().items())
    graph->metadata(member.key(), member.value().is_string() ? member.value().get<std::string>() : member.value().dump());
  if (const auto rate = metadata->find("samplerate"))
    graph->metadata("sample_rate", rate->is_text() ? rate->text() : rate->json().dump());
}

}  // namespace

bool is_rtneural(const JsonValue &file) {
  return file.find("layers") && file.find("in_shape");
}

std::unique_ptr<OnnxModel> read_rtneural(const JsonValue &file, const ReadOptions &) {
  const JsonValue shape = file.at("in_shape"), list = file.at("layers");
  if (shape.size() == 0) shape.refuse("it is empty");
  if (list.size() == 0 || list.size() > kMostLayers) list.refuse("1 to 1000 layers are expected");
  const int64_t features = shape[shape.size() - 1].integer(1, kMostFeatures);
  GraphBuilder graph("rtneural");
  const std::string input = graph.input("input", {"batch", "steps", features});
  BuiltLayers layers(&graph, input, features);
  multiply(&layers, "in_gain", number_in(file, "in_gain"));
  const std::string amplified = layers.value();
  for (size_t i = 0; i < list.size(); ++i) RtneuralLayer(list[i], "layer" + std::to_string(i), &layers).add();
  if (const auto skip = number_in(file, "in_skip")) add_skip(*skip, amplified, features, &layers);
  multiply(&layers, "out_gain", number_in(file, "out_gain"));
  graph.output(graph.node("Identity", {layers.value()}, "output"));
  add_metadata(file, &graph);
  auto model = graph.take();
  check_test_vector(file, *model);
  return model;
}

}  // namespace rnnp::compiler
