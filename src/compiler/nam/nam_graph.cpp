// nam_graph.cpp -- Contract: nam_graph.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/nam/nam_graph.h"

#include <algorithm>
#include <cmath>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

double steady_of(const NamActivation &how, double x, size_t channel) {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  if (how.type == "Tanh") return std::tanh(x);
  if (how.type == "Sigmoid") return sigmoid(x);
  if (how.type == "ReLU") return std::max(x, 0.0);
  if (how.type == "LeakyReLU") return x > 0 ? x : how.slope * x;
  if (how.type == "PReLU") return x > 0 ? x : how.slopes[channel] * x;
  if (how.type == "SiLU") return x * sigmoid(x);
  if (how.type == "Softsign") return x / (1 + std::fabs(x));
  if (how.type == "Softsigmoid") return 0.5 + 0.5 * x / (1 + std::fabs(x));
  if (how.type == "Hardtanh") return std::clamp(x, -1.0, 1.0);
  if (how.type == "Hardswish") return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  const double inside = std::clamp(x, how.least, how.most);
  return inside + how.slope_below * std::min(x - how.least, 0.0) + how.slope_above * std::max(x - how.most, 0.0);
}

// W of every tap, times the channels of x.
std::vector<double> times_all_taps(const NamConv &conv, const std::vector<double> &x) {
  std::vector<double> out(static_cast<size_t>(conv.out), 0.0);
  const size_t in = static_cast<size_t>(conv.in / conv.groups), rows = static_cast<size_t>(conv.out / conv.groups);
  const size_t taps = static_cast<size_t>(conv.taps);
  for (size_t o = 0; o < out.size(); ++o) {
    for (size_t i = 0; i < in; ++i) {
      double sum = 0;
      for (size_t k = 0; k < taps; ++k) sum += static_cast<double>(conv.weights[(o * in + i) * taps + k]);
      out[o] += sum * x[o / rows * in + i];
    }
  }
  return out;
}

bool all_zero(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

std::vector<float> as_floats(const std::vector<double> &values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::string NamGraph::constant(const std::string &name, const std::vector<double> &values) {
  return graph_->constant(name, {static_cast<int64_t>(values.size()), 1}, as_floats(values));
}

std::string NamGraph::scalar(const std::string &name, double value) {
  return graph_->constant(name, {}, {static_cast<float>(value)});
}

NamValue NamGraph::with_offset(const NamValue &value, const std::vector<double> &offset) {
  if (value.offset == offset) return value;
  std::vector<double> moved = value.offset;
  for (size_t i = 0; i < moved.size(); ++i) moved[i] -= offset[i];
  NamValue out = value;
  out.offset = offset;
  const std::string name = value.tensor + ".moved";
  out.tensor = graph_->node("Add", {value.tensor, constant(name + ".by", moved)}, name);
  return out;
}

NamValue NamGraph::conv(const std::string &name, const NamValue &input, const NamConv &conv, bool from_silence) {
  const NamValue x = conv.taps > 1 ? with_offset(input, input.steady) : input;
  NamValue out;
  out.steady = times_all_taps(conv, x.steady);
  std::vector<double> bias = times_all_taps(conv, x.offset);
  for (size_t i = 0; i < out.steady.size(); ++i) {
    const double own = conv.bias.empty() ? 0.0 : static_cast<double>(conv.bias[i]);
    out.steady[i] += own;
    bias[i] += own;
  }
  out.offset.assign(out.steady.size(), 0.0);
  if (from_silence) out.offset = out.steady;
  for (size_t i = 0; i < bias.size(); ++i) bias[i] -= out.offset[i];
  std::vector<std::string> inputs = {
      x.tensor, graph_->constant(name + ".weights", {conv.out, conv.in / conv.groups, conv.taps}, conv.weights)};
  if (!conv.bias.empty() || !all_zero(bias)) inputs.push_back(graph_->constant(name + ".bias", {conv.out}, as_floats(bias)));
  BuiltNode node = graph_->node("Conv", inputs, name);
  node.with("dilations", std::vector<int64_t>{conv.dilation}).with("group", conv.groups);
  node.with("pads", std::vector<int64_t>{(conv.taps - 1) * conv.dilation, 0});
  out.tensor = node.output();
  return out;
}

NamValue NamGraph::add(const std::string &name, const NamValue &a, const NamValue &b) {
  NamValue out = a;
  for (size_t i = 0; i < out.steady.size(); ++i) {
    out.steady[i] += b.steady[i];
    out.offset[i] += b.offset[i];
  }
  out.tensor = graph_->node("Add", {a.tensor, b.tensor}, name);
  return out;
}

NamValue NamGraph::multiply(const std::string &name, const NamValue &a, const NamValue &b) {
  const NamValue x = plain(a), y = plain(b);
  NamValue out = x;
  for (size_t i = 0; i < out.steady.size(); ++i) out.steady[i] *= y.steady[i];
  out.tensor = graph_->node("Mul", {x.tensor, y.tensor}, name);
  return out;
}

NamValue NamGraph::channels(const std::string &name, const NamValue &x, int64_t begin, int64_t end) {
  NamValue out;
  const auto part = [&](const std::vector<double> &all) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  out.steady = part(x.steady);
  out.offset = part(x.offset);
  out.tensor = graph_->node("Slice",
                            {x.tensor, graph_->constant_ints(name + ".begin", {1}, {begin}),
                             graph_->constant_ints(name + ".end", {1}, {end}), graph_->constant_ints(name + ".axis", {1}, {1})},
                            name);
  return out;
}

NamValue NamGraph::film(const std::string &name, const NamValue &x, const NamValue &condition, const NamConv &how, bool shift) {
  const NamValue factors = conv(name, condition, how, false);
  const int64_t size = x.channels();
  if (!shift) return multiply(name + ".scaled", x, factors);
  const NamValue scaled = multiply(name + ".scaled", x, channels(name + ".scale", factors, 0, size));
  return add(name + ".shifted", scaled, channels(name + ".shift", factors, size, 2 * size));
}

std::string NamGraph::activation_tensor(const std::string &name, const std::string &x, const NamActivation &how) {
  const auto clipped = [&](double least, double most) {
    return graph_->node("Clip", {x, scalar(name + ".least", least), scalar(name + ".most", most)}, name).output();
  };
  // factor * max(x - from, 0), or of what lies below: factor * min(x - from, 0)
  const auto outside = [&](const std::string &part, double from, double factor, bool below) {
    const BuiltNode moved = below ? graph_->node("Sub", {scalar(part + ".from", from), x}, part + ".beyond")
                                  : graph_->node("Sub", {x, scalar(part + ".from", from)}, part + ".beyond");
    const BuiltNode kept = graph_->node("Relu", {moved}, part + ".kept");
    return graph_->node("Mul", {kept, scalar(part + ".slope", below ? -factor : factor)}, part).output();
  };
  const std::string &type = how.type;
  if (type == "Tanh" || type == "Sigmoid" || type == "Softsign") return graph_->node(type, {x}, name);
  if (type == "ReLU") return graph_->node("Relu", {x}, name);
  if (type == "LeakyReLU") return graph_->node("LeakyRelu", {x}, name).with("alpha", static_cast<float>(how.slope));
  if (type == "PReLU") return graph_->node("PRelu", {x, constant(name + ".slopes", how.slopes)}, name);
  if (type == "SiLU") return graph_->node("Mul", {x, graph_->node("Sigmoid", {x}, name + ".gate")}, name);
  if (type == "Softsigmoid") {
    const BuiltNode half =
        graph_->node("Mul", {graph_->node("Softsign", {x}, name + ".sign"), scalar(name + ".half", 0.5)}, name + ".around_0");
    return graph_->node("Add", {half, scalar(name + ".middle", 0.5)}, name);
  }
  if (type == "Hardswish") return graph_->node("HardSwish", {x}, name);
  if (type == "Hardtanh") return clipped(-1, 1);
  if (type != "LeakyHardtanh")
    throw ModelError("the activation " + quote(type) +
                     " is not supported; accepted: Tanh, ReLU, LeakyReLU, PReLU, Sigmoid, SiLU, Hardtanh, LeakyHardtanh, "
                     "Hardswish, Softsign, Softsigmoid");
  const std::string inside = clipped(how.least, how.most);
  const BuiltNode below = graph_->node("Add", {inside, outside(name + ".below", how.least, how.slope_below, true)}, name + ".sum");
  return graph_->node("Add", {below, outside(name + ".above", how.most, how.slope_above, false)}, name + ".all");
}

NamValue NamGraph::activation(const std::string &name, const NamValue &x, const NamActivation &given) {
  NamActivation how = given;
  if (how.slopes.size() == 1) how.slopes.resize(x.steady.size(), how.slopes[0]);
  if (how.type == "PReLU" && how.slopes.size() != x.steady.size())
    throw ModelError("PReLU has " + std::to_string(how.slopes.size()) + " slopes for " + std::to_string(x.channels()) +
                     " channels");
  NamValue out = plain(x);
  out.tensor = activation_tensor(name, out.tensor, how);
  for (size_t i = 0; i < out.steady.size(); ++i) out.steady[i] = steady_of(how, out.steady[i], i);
  return out;
}

}  // namespace rnnp::compiler
