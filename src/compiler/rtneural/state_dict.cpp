// state_dict.cpp -- Contract: state_dict.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rtneural/state_dict.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "compiler/graph_builder/built_layers.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostHidden = 1 << 16;

// What stands before the last dot of a parameter's name.
std::string module_of(const std::string &parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? "" : parameter.substr(0, dot);
}

class StateDict {
 public:
  explicit StateDict(const JsonValue &json) : json_(json) {
    for (const auto &member : json.json().items()) {
      if (!member.value().is_array()) continue;
      const std::string module = module_of(member.key());
      check_parameter(member.key().substr(module.empty() ? 0 : module.size() + 1), member.key());
      if (std::find(modules_.begin(), modules_.end(), module) == modules_.end()) modules_.push_back(module);
    }
    constexpr size_t kMostModules = 1000;
    if (modules_.size() > kMostModules) json.refuse("it has more than 1000 layers");
  }

  const std::vector<std::string> &modules() const { return modules_; }
  std::string key(const std::string &module, const std::string &name) const { return module.empty() ? name : module + "." + name; }
  bool has(const std::string &module, const std::string &name) const { return json_.find(key(module, name).c_str()).has_value(); }

  // Empty where it is left out.
  Weights weights(const std::string &module, const std::string &name) const {
    const auto found = json_.find(key(module, name).c_str());
    Weights out;
    if (found) out.data = found->numbers(&out.shape);
    if (found && out.data.empty()) found->refuse("it is empty");
    return out;
  }

  // All layers of one recurrent module. `kind`: or what the sizes say.
  void add_recurrent(const std::string &module, std::optional<Recurrence> kind, BuiltLayers *layers) const {
    for (int i = 0;; ++i) {
      const std::string suffix = "_l" + std::to_string(i);
      if (!has(module, "weight_ih" + suffix)) break;
      const std::string name = (module.empty() ? "recurrent" : module) + suffix;
      if (has(module, "weight_ih" + suffix + "_reverse"))
        json_.refuse(quote(module) + " goes in both directions; accepted: forward");
      const Weights ih = weights(module, "weight_ih" + suffix), hh = weights(module, "weight_hh" + suffix);
      if (hh.shape.size() != 2 || ih.shape.size() != 2) json_.refuse(quote(name) + ": matrices are expected");
      layers->recurrent(name, of_torch(name, kind ? *kind : kind_of(name, hh), ih, hh, weights(module, "bias_ih" + suffix),
                                       weights(module, "bias_hh" + suffix)));
    }
  }

  void add_plain(const std::string &module, BuiltLayers *layers) const {
    const std::string name = module.empty() ? "layer" : module;
    const Weights weight = weights(module, "weight");
    const std::vector<float> bias = weights(module, "bias").data;
    if (has(module, "running_mean")) {
      const auto eps = json_.find(key(module, "eps").c_str());
      constexpr double kUsual = 1e-5;
      layers->batch_norm(name, weight.data, bias, weights(module, "running_mean").data, weights(module, "running_var").data,
                         eps ? eps->number() : kUsual);
    } else if (weight.shape.size() == 2) {
      layers->dense(name, transposed(weight), bias);
    } else if (weight.shape.size() == 3) {
      layers->conv(name, weight, bias, {1, 1, groups(weight, layers->features())});
    } else if (weight.data.size() == 1 && weight.shape.size() == 1 && bias.empty()) {
      layers->prelu(name, weight.data);
    } else if (weight.shape.size() == 1 && bias.empty()) {
      json_.refuse(
          quote(name) + ": its " + std::to_string(weight.data.size()) +
          " numbers may be the slopes of a PReLU or the scale of a norm, which the file does not tell; accepted: a PReLU of "
          "one slope. Export the module to ONNX");
    } else {
      json_.refuse(quote(name) + ": it is no layer that is known; accepted: RNN, GRU, LSTM, Linear, Conv1d, BatchNorm1d, PReLU");
    }
  }

  // Features that the first layer takes.
  int64_t features() const {
    if (modules_.empty()) json_.refuse("it has no layers");
    const std::string &module = modules_[0];
    const Weights ih = weights(module, "weight_ih_l0"), weight = weights(module, "weight");
    if (ih.shape.size() == 2) return ih.shape[1];
    if (weight.shape.size() == 2 || weight.shape.size() == 3) return weight.shape[1];
    if (weight.shape.size() == 1) return weight.shape[0];
    json_.refuse("its first layer has no weights");
  }

 private:
  // What no layer here has changes the results of one that has it.
  void check_parameter(const std::string &name, const std::string &key) const {
    static const std::set<std::string> kPlain = {"weight", "bias", "running_mean", "running_var", "num_batches_tracked", "eps"};
    const auto begins = [&](const char *with) { return name.compare(0, std::strlen(with), with) == 0; };
    if (kPlain.count(name) != 0 || begins("weight_ih_l") || begins("weight_hh_l") || begins("bias_ih_l") || begins("bias_hh_l"))
      return;
    json_.refuse(quote(key) +
                 " is of no layer that is known; accepted: weights of RNN, GRU, LSTM, Linear, Conv1d, BatchNorm1d, PReLU");
  }

  Recurrence kind_of(const std::string &name, const Weights &hh) const {
    for (const Recurrence kind : {Recurrence::kRnn, Recurrence::kGru, Recurrence::kLstm}) {
      if (hh.shape[0] == gates_of(kind) * hh.shape[1]) return kind;
    }
    json_.refuse(quote(name) + ": weights of shape " + shape_text(hh.shape) + " are of no RNN, GRU or LSTM");
  }

  static int64_t groups(const Weights &weight, int64_t features) {
    return weight.shape[1] > 0 && features % weight.shape[1] == 0 ? features / weight.shape[1] : 1;
  }

  JsonValue json_;
  std::vector<std::string> modules_;
};

// The first features of the input are added to the output.
void add_input(const std::string &input, int64_t features, BuiltLayers *layers) {
  GraphBuilder &graph = layers->graph();
  std::string added = input;
  if (features != layers->features()) {
    const std::string begin = graph.constant_ints("skip.begin", {1}, {0});
    const std::string end = graph.constant_ints("skip.end", {1}, {layers->features()}),
                      axis = graph.constant_ints("skip.axis", {1}, {2});
    added = graph.node("Slice", {input, begin, end, axis}, "skip");
  }
  layers->use(graph.node("Add", {layers->value(), added}, "with_input"), layers->features());
}

std::optional<Recurrence> unit_type(const JsonValue &type) {
  const std::string text = type.text();
  if (text == "LSTM") return Recurrence::kLstm;
  if (text == "GRU") return Recurrence::kGru;
  if (text == "RNN") return Recurrence::kRnn;
  type.refuse("the unit type " + quote(text) + " is not supported; accepted: LSTM, GRU, RNN");
}

}  // namespace

bool is_guitarml(const JsonValue &file) {
  return file.find("model_data") && file.find("state_dict");
}

std::unique_ptr<OnnxModel> read_guitarml(const JsonValue &file, const ReadOptions &) {
  const JsonValue data = file.at("model_data");
  const StateDict dict(file.at("state_dict"));
  const auto model = data.find("model");
  if (model && model->text() != "SimpleRNN")
    model->refuse("networks of the kind " + quote(model->text()) + " are not supported; accepted: SimpleRNN");
  for (const std::string &module : dict.modules()) {
    if (module != "rec" && module != "lin")
      file.at("state_dict").refuse("its layer " + quote(module) + " is not known; accepted: rec, lin");
  }
  const int64_t inputs = data.at("input_size").integer(1, kMostHidden), outputs = data.at("output_size").integer(1, kMostHidden);
  GraphBuilder graph("guitarml");
  const std::string input = graph.input("input", {"batch", "steps", inputs});
  BuiltLayers layers(&graph, input, inputs);
  dict.add_recurrent("rec", unit_type(data.at("unit_type")), &layers);
  if (layers.value() == input) file.at("state_dict").refuse("it has no 'rec.weight_ih_l0'");
  const JsonValue hidden = data.at("hidden_size");
  if (hidden.integer(1, kMostHidden) != layers.features())
    hidden.refuse("it is not the size of the weights, " + std::to_string(layers.features()));
  dict.add_plain("lin", &layers);
  if (layers.features() != outputs) data.at("output_size").refuse("the weights make " + std::to_string(layers.features()));
  const auto skip = data.find("skip");
  if (skip && skip->integer(0, inputs) != 0) {
    if (skip->integer(0, inputs) != outputs) skip->refuse("the output has " + std::to_string(outputs) + " features");
    add_input(input, inputs, &layers);
  }
  graph.output(graph.node("Identity", {layers.value()}, "output"));
  return graph.take();
}

bool is_state_dict(const JsonValue &file) {
  const auto &members = file.json();
  if (!members.is_object()) return false;
  return std::any_of(members.begin(), members.end(), [](const auto &value) { return value.is_array(); }) &&
         std::any_of(members.items().begin(), members.items().end(), [](const auto &member) {
           const std::string &key = member.key();
           return key == "weight" || key.find(".weight") != std::string::npos;
         });
}

std::unique_ptr<OnnxModel> read_state_dict(const JsonValue &file, const ReadOptions &) {
  const StateDict dict(file);
  GraphBuilder graph("state_dict");
  const int64_t features = dict.features();
  BuiltLayers layers(&graph, graph.input("input", {"batch", "steps", features}), features);
  for (const std::string &module : dict.modules()) {
    if (dict.has(module, "weight_ih_l0"))
      dict.add_recurrent(module, std::nullopt, &layers);
    else
      dict.add_plain(module, &layers);
  }
  graph.output(graph.node("Identity", {layers.value()}, "output"));
  auto model = graph.take();
  model->notes.emplace_back(
      "a state_dict has layers alone: they follow each other in its order, with no activation, stride or dilation; verify with the "
      "module's own results, or export it to ONNX");
  return model;
}

}  // namespace rnnp::compiler
