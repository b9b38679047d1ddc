// exact_norm.cpp -- Contract: exact_norm.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/exact_norm.h"

#include <cmath>

#include "compiler/verify/exact_layer.h"
#include "compiler/verify/exact_product.h"

namespace rnnp::compiler {
namespace {

// Unit u of each gate goes to sum u mod 16, sums are joined by halves.
float sum_of_units(const float *v, size_t units, float centre, bool squared) {
  float sums[16] = {};
  for (size_t u = 0; u < units; ++u) sums[u % 16] += squared ? (v[u] - centre) * (v[u] - centre) : v[u];
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

float act(Act kind, float x) {
  return exact_activation({static_cast<uint32_t>(kind), 0.0f, 0.0f}, x);
}

}  // namespace

ExactNorm::ExactNorm(const Model &model, const AttrNormRecurrent &attr, uint32_t d)
    : norm_(attr.norm[d]), hidden_(attr.layer.hidden_size), by_gate_(attr.by_gate != 0), keeps_c_(attr.keeps_c != 0) {
  const uint32_t nr = model.matrix(attr.layer.direction[d].w).format.nr, h = attr.layer.hidden_size;
  x_scale_ = unit_numbers(model.weights(norm_.x_scale), 4, h, nr);
  if (norm_.h_scale != kNone) h_scale_ = unit_numbers(model.weights(norm_.h_scale), 4, h, nr);
  bias_ = unit_numbers(model.weights(norm_.bias), 4, h, nr);
  c_scale_ = unit_numbers(model.weights(norm_.c_scale), 1, h, nr);
  c_bias_ = unit_numbers(model.weights(norm_.c_bias), 1, h, nr);
}

// Gates lie one behind the other.
std::vector<float> ExactNorm::normed(const std::vector<float> &v, float epsilon, bool by_gate) const {
  const size_t gates = v.size() / hidden_, apart = by_gate ? gates : 1, together = gates / apart;
  const float count = static_cast<float>(together * hidden_);
  std::vector<float> out(v.size());
  for (size_t first = 0; first < gates; first += together) {
    const auto sum = [&](float centre, bool squared) {
      float part[4] = {};
      for (size_t g = 0; g < together; ++g) part[g] = sum_of_units(&v[(first + g) * hidden_], hidden_, centre, squared);
      return together == 1 ? part[0] : (part[0] + part[1]) + (part[2] + part[3]);
    };
    const float mean = sum(0, false) / count, factor = 1.0f / std::sqrt(sum(mean, true) / count + epsilon);
    for (size_t i = first * hidden_; i < (first + together) * hidden_; ++i) out[i] = (v[i] - mean) * factor;
  }
  return out;
}

void ExactNorm::step(const std::vector<float> &of_x, const std::vector<float> &of_h, float *h, float *c) const {
  const std::vector<float> x = normed(of_x, norm_.x_epsilon, by_gate_);
  const std::vector<float> r = is_apart() ? normed(of_h, norm_.h_epsilon, by_gate_) : std::vector<float>();
  std::vector<float> gates(x.size()), raw(hidden_);
  for (size_t i = 0; i < gates.size(); ++i) {
    const float sum = x[i] * x_scale_[i] + bias_[i], pre = is_apart() ? sum + r[i] * h_scale_[i] : sum;
    gates[i] = act(i < 3 * hidden_ ? Act::kSigmoid : Act::kTanh, pre);
  }
  for (size_t u = 0; u < hidden_; ++u) raw[u] = gates[2 * hidden_ + u] * c[u] + gates[u] * gates[3 * hidden_ + u];
  const std::vector<float> n = normed(raw, norm_.c_epsilon, false);
  for (size_t u = 0; u < hidden_; ++u) {
    const float next = n[u] * c_scale_[u] + c_bias_[u];
    c[u] = keeps_c_ ? raw[u] : next;
    h[u] = gates[hidden_ + u] * act(Act::kTanh, next);
  }
}

}  // namespace rnnp::compiler
