// ops_math.cpp -- activations, arithmetic with broadcasting and softmax. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "compiler/import/steps.h"
#include "compiler/onnx/activation.h"

namespace rnnp::compiler {
namespace {

void give_activated(OpCall &call, const Activation &f) {
  call.give(0, call.b.unary(call.pointwise_view(0, activate(f, 0) == 0), blob_activation(f), call.name));
}

void unary(OpCall &call) {
  Activation f;
  if (!activation_of_node(call.node.op_type(), call.attributes, &f)) throw Refusal("the operator is not supported");
  give_activated(call, f);
}

double bound_of(OpCall &call, size_t i, const char *name, double otherwise) {
  if (call.opset < 11) return call.attributes.real(name, otherwise);
  if (!call.has(i)) return otherwise;
  const Tensor &value = call.constant(i, name);
  if (value.size() != 1 || value.is_dynamic()) throw Refusal(std::string("input '") + name + "' must be one constant");
  return value.data[0];
}

void clip(OpCall &call) {
  constexpr double kFree = std::numeric_limits<double>::infinity();
  const Activation f{Act::kClip, bound_of(call, 1, "min", -kFree), bound_of(call, 2, "max", kFree)};
  give_activated(call, f);
}

// Two inputs, or more as a chain.
View folded(OpCall &call, Binary op) {
  if (call.input_count() == 0) throw Refusal("it has no inputs");
  View sum = call.number_view(0);
  for (size_t i = 1; i < call.input_count(); ++i) {
    View next = call.number_view(i);
    meet_steps(call, &sum, &next);
    if (next.whole != sum.whole) throw Refusal("its inputs are of float and of integer type; accepted: one type");
    sum = call.b.binary(op, sum, next, call.name);
  }
  return sum;
}

void chain(OpCall &call, Binary op) {
  call.give(0, folded(call, op));
}

// A constant 0 that adds nothing, not even an axis, to input `i`.
bool adds_nothing(const OpCall &call, size_t i) {
  if (call.input_count() != 2 || !call.is_const(1 - i) || call.is_const(i)) return false;
  const Tensor &other = call.sizes(1 - i, "the other operand");
  return other.size() == 1 && other.data[0] == 0 && !other.is_dynamic() && other.rank() <= call.number_view(i).axes.size();
}

void add(OpCall &call) {
  for (size_t i = 0; i < 2; ++i) {
    if (adds_nothing(call, i)) return call.give(0, call.number_view(i));
  }
  chain(call, Binary::kAdd);
}
void mul(OpCall &call) {
  chain(call, Binary::kMul);
}
void sub(OpCall &call) {
  chain(call, Binary::kSub);
}
// Of integers below 2^23 the rounded quotient lies between the same integers as the exact one.
View whole_quotient(OpCall &call) {
  const View a = call.number_view(0), b = call.number_view(1);
  if (!a.whole || !b.whole) throw Refusal("its inputs are of float and of integer type; accepted: one type");
  return call.b.binary(Binary::kDiv, a, b, call.name);
}

View as_whole(View view) {
  view.whole = true;
  return view;
}

View towards_zero(OpCall &call, const View &quotient) {
  const View size =
      call.b.unary(call.b.unary(quotient, blob_activation({Act::kAbs}), call.name), blob_activation({Act::kFloor}), call.name);
  View sign = call.b.unary(quotient, blob_activation({Act::kSign}), call.name);
  sign.bounds = {-1, 1};
  return as_whole(call.b.binary(Binary::kMul, size, sign, call.name));
}

// a - b * quotient, whose sign is that of b, or with fmod that of a.
void mod(OpCall &call) {
  if (!call.number_view(0).whole) throw Refusal("it takes the rest of a division of floats at run time; accepted: integers");
  const View quotient = whole_quotient(call);
  const bool as_a = call.attributes.integer("fmod", 0) != 0;
  const View times = as_a ? towards_zero(call, quotient) : call.b.unary(quotient, blob_activation({Act::kFloor}), call.name);
  const View a = call.number_view(0), b = call.number_view(1);
  View all = as_whole(call.b.binary(Binary::kMul, times, b, call.name));
  const double size = std::max(-b.bounds.least, b.bounds.most);
  all.bounds = {a.bounds.least - size, a.bounds.most + size};
  View rest = as_whole(call.b.binary(Binary::kSub, a, all, call.name));
  rest.bounds = {-size, size};
  call.give(0, rest);
}

void div(OpCall &call) {
  if (!call.number_view(0).whole) return chain(call, Binary::kDiv);
  call.give(0, towards_zero(call, whole_quotient(call)));
}
void minimum(OpCall &call) {
  chain(call, Binary::kMin);
}
void maximum(OpCall &call) {
  chain(call, Binary::kMax);
}

void mean(OpCall &call) {
  const View sum = folded(call, Binary::kAdd);
  const double count = static_cast<double>(call.input_count());
  call.give(0, count == 1 ? sum : call.b.unary(sum, blob_activation({Act::kAffine, 1 / count}), call.name));
}

void gelu(OpCall &call) {
  const std::string approximate = call.attributes.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    throw Refusal("attribute 'approximate' is " + quote(approximate) + "; accepted: none, tanh");
  call.give(0, call.b.unary(call.real_view(0), blob_activation({approximate == "tanh" ? Act::kGeluTanh : Act::kGelu}), call.name));
}

// gamma * elu(x, alpha)
void selu(OpCall &call) {
  const double alpha = call.attributes.real("alpha", 1.67326319217681884765625);
  const View elu = call.b.unary(call.real_view(0), blob_activation({Act::kElu, alpha}), call.name);
  call.give(
      0, call.b.unary(elu, blob_activation({Act::kAffine, call.attributes.real("gamma", 1.05070102214813232421875)}), call.name));
}

// max(0, x) + alpha * expm1(min(0, x) / alpha): what is above 0 stays x to the last bit, as a comparison with x sees.
void celu(OpCall &call) {
  const double alpha = call.attributes.real("alpha", 1);
  if (alpha == 0) throw Refusal("attribute 'alpha' is 0");
  const View x = call.real_view(0);
  const auto after = [&](const View &of, const Activation &f) { return call.b.unary(of, blob_activation(f), call.name); };
  if (alpha == 1) return call.give(0, after(x, {Act::kElu, 1}));
  const View part = after(after(x, {Act::kClip, -std::numeric_limits<double>::infinity(), 0}), {Act::kAffine, 1 / alpha});
  const View below = alpha > 0 ? after(part, {Act::kElu, alpha}) : after(after(part, {Act::kExp}), {Act::kAffine, alpha, -alpha});
  call.give(0, call.b.binary(Binary::kAdd, after(x, {Act::kRelu}), below, call.name));
}

// x * tanh(softplus(x))
void mish(OpCall &call) {
  const View x = call.real_view(0);
  const View slope =
      call.b.unary(call.b.unary(x, blob_activation({Act::kSoftplus}), call.name), blob_activation({Act::kTanh}), call.name);
  call.give(0, call.b.binary(Binary::kMul, x, slope, call.name));
}

// Exponents that are cheaper, and more exact, than a power; true when it was one.
bool easy_power(OpCall &call) {
  if (!call.is_const(1)) return false;
  const Tensor &exponent = call.constant(1, "exponent");
  const View x = call.real_view(0);
  if (exponent.is_dynamic() || exponent.size() != 1 || exponent.rank() > x.axes.size()) return false;
  const double e = exponent.data[0];
  if (e == 1) call.give(0, x);
  if (e == 2) call.give(0, call.b.binary(Binary::kMul, x, x, call.name));
  if (e == 0.5) call.give(0, call.b.unary(x, blob_activation({Act::kSqrt}), call.name));
  if (e == -1) call.give(0, call.b.unary(x, blob_activation({Act::kReciprocal}), call.name));
  return e == 1 || e == 2 || e == 0.5 || e == -1;
}

// The exponent may be of an integer type.
void power(OpCall &call) {
  if (easy_power(call)) return;
  View exponent;
  if (call.is_const(1)) {
    Tensor constant = call.constant(1, "exponent");
    constant.elem = Elem::kFloat;
    exponent = call.b.const_view(constant);
  } else {
    exponent = call.real_view(1);
  }
  call.give(0, call.b.binary(Binary::kPow, call.real_view(0), exponent, call.name));
}

// The largest of all steps first, as within a row: the run has to be whole.
View softmax_over_steps(OpCall &call, const View &x, size_t axis, bool log) {
  Builder &b = call.b;
  if (b.discovering) return b.unary(x, blob_activation({Act::kExp}), call.name);
  std::vector<bool> over(x.axes.size(), false);
  over[axis] = true;
  const View less = b.binary(Binary::kSub, x, b.reduced(x, over, Reduce::kMax, true, call.name), call.name);
  const View power = b.unary(less, blob_activation({Act::kExp}), call.name);
  const View sum = b.reduced(power, over, Reduce::kSum, true, call.name);
  if (log) return b.binary(Binary::kSub, less, b.unary(sum, blob_activation({Act::kLog}), call.name), call.name);
  return b.binary(Binary::kDiv, power, sum, call.name);
}

void softmax_of(OpCall &call, bool log) {
  const View x = call.real_view(0);
  const bool flatten = call.opset < 13;
  const size_t at = normal_axis(call.attributes.integer("axis", flatten ? 1 : -1), x.axes.size());
  if (!flatten && may_be_steps(call.b, merged(x.axes[at]))) return call.give(0, softmax_over_steps(call, x, at, log));
  const View whole = call.b.dense(x, call.name);
  AttrSoftmax attr{1, 1, 1, log ? 1u : 0u};
  for (size_t i = 0; i < whole.axes.size(); ++i) {
    const bool in_axis = i == at || (flatten && i > at);
    if (in_axis && !axis_is_features(whole.axes[i])) {
      throw Refusal("attribute 'axis' covers the time or batch axis of " + view_text(x) +
                    (flatten ? " (before opset 13 it covers all later axes too)" : "") + "; accepted: feature axes");
    }
    Axis features;
    for (const Atom &atom : whole.axes[i]) {
      if (atom.is_feature()) features.push_back(atom);
    }
    uint32_t &size = in_axis ? attr.axis : i < at ? attr.outer : attr.inner;
    size *= static_cast<uint32_t>(axis_size(features));
  }
  View out = whole;
  out.value = call.b.new_row(feature_count(whole), call.b.is_sequence(whole));
  call.b.graph.nodes.push_back({OpKind::kSoftmax, call.name, {whole.value}, {out.value}, attr});
  call.give(0, out);
}

void softmax(OpCall &call) {
  softmax_of(call, false);
}
void log_softmax(OpCall &call) {
  softmax_of(call, true);
}

constexpr const char *kAll = "all";
constexpr const char *kBroadcast = "general broadcasting";

}  // namespace

const std::vector<ImportRow> kImportMath = {
    {"Relu", unary, kAll},
    {"Tanh", unary, kAll},
    {"Sigmoid", unary, kAll},
    {"LeakyRelu", unary, kAll},
    {"ThresholdedRelu", unary, kAll, 10},
    {"HardSigmoid", unary, kAll},
    {"Elu", unary, kAll},
    {"Softsign", unary, kAll},
    {"Softplus", unary, kAll},
    {"Exp", unary, kAll},
    {"Log", unary, kAll},
    {"Sqrt", unary, kAll},
    {"Abs", unary, kAll},
    {"Neg", unary, kAll},
    {"Reciprocal", unary, kAll},
    {"HardSwish", unary, kAll, 14},
    {"Floor", unary, kAll},
    {"Ceil", unary, kAll},
    {"Sign", unary, kAll, 9},
    {"Round", unary, kAll, 11},
    {"Erf", unary, kAll, 9},
    {"Sin", unary, kAll},
    {"Cos", unary, kAll},
    {"Mod", mod, "integers, up to 8388608", 10},
    {"Gelu", gelu, kAll, 20},
    {"Selu", selu, kAll},
    {"Celu", celu, kAll, 12},
    {"Mish", mish, kAll, 18},
    {"Mean", mean, kBroadcast},
    {"Clip", clip, "constant bounds"},
    {"Add", add, kBroadcast},
    {"Sub", sub, kBroadcast},
    {"Mul", mul, kBroadcast},
    {"Div", div, kBroadcast},
    {"Pow", power, kBroadcast},
    {"Min", minimum, kBroadcast},
    {"Max", maximum, kBroadcast},
    {"Sum", add, kBroadcast},
    {"Softmax", softmax, "feature axes; from opset 13 on time"},
    {"LogSoftmax", log_softmax, "feature axes; from opset 13 on time"},
};

}  // namespace rnnp::compiler
