// fixed_lstm.cpp -- Contract: fixed_lstm.h. SPDX-License-Identifier: Apache-2.0
#include "native/fixed_lstm.h"

#include <Eigen/Dense>

namespace rnnpack_bench {
namespace {

template <int kRows>
using Rows = Eigen::Array<float, kRows, 1>;

// tanh by its continued fraction, cut after the seventh term.
template <class Array>
auto rational_tanh(const Array &v) {
  const auto x = v.min(4.97f).max(-4.97f).eval();
  const auto s = x.square().eval();
  return (x * (135135.0f + s * (17325.0f + s * (378.0f + s))) / (135135.0f + s * (62370.0f + s * (3150.0f + s * 28.0f)))).eval();
}

template <int kInput, int kHidden>
struct Layer {
  Eigen::Matrix<float, 4 * kHidden, kInput + kHidden> w;
  Eigen::Matrix<float, 4 * kHidden, 1> b;
  Eigen::Matrix<float, kInput + kHidden, 1> xh = decltype(xh)::Zero();
  Rows<kHidden> c = Rows<kHidden>::Zero();

  void load(const float **from) {
    for (int row = 0; row < 4 * kHidden; ++row)
      for (int column = 0; column < kInput + kHidden; ++column) w(row, column) = *(*from)++;
    for (int row = 0; row < 4 * kHidden; ++row) b(row) = *(*from)++;
  }

  void step() {
    const Rows<4 *kHidden> gates = (w * xh + b).array();
    const Rows<2 *kHidden> in = rational_tanh(0.5f * gates.template head<2 * kHidden>()) * 0.5f + 0.5f;
    const Rows<kHidden> out = rational_tanh(0.5f * gates.template tail<kHidden>()) * 0.5f + 0.5f;
    c = in.template tail<kHidden>() * c + in.template head<kHidden>() * rational_tanh(gates.template segment<kHidden>(2 * kHidden));
    xh.template tail<kHidden>() = (out * rational_tanh(c)).matrix();
  }
};

template <int kHidden, int kLayers>
struct Network final : FixedLstm {
  Layer<1, kHidden> first;
  Layer<kHidden, kHidden> second;
  Eigen::Matrix<float, kHidden, 1> head;
  float head_bias = 0;

  explicit Network(const float *from) {
    first.load(&from);
    if constexpr (kLayers == 2) second.load(&from);
    for (int i = 0; i < kHidden; ++i) head(i) = *from++;
    head_bias = *from;
  }

  void process(const float *x, float *y, size_t steps) override {
    for (size_t i = 0; i < steps; ++i) {
      first.xh(0) = x[i];
      first.step();
      if constexpr (kLayers == 2) {
        second.xh.template head<kHidden>() = first.xh.template tail<kHidden>();
        second.step();
        y[i] = head.dot(second.xh.template tail<kHidden>()) + head_bias;
      } else {
        y[i] = head.dot(first.xh.template tail<kHidden>()) + head_bias;
      }
    }
  }
};

}  // namespace

std::unique_ptr<FixedLstm> make_fixed_lstm(int layers, int hidden, const std::vector<float> &weights) {
  const float *from = weights.data();
  if (layers == 1 && hidden == 8) return std::make_unique<Network<8, 1>>(from);
  if (layers == 1 && hidden == 16) return std::make_unique<Network<16, 1>>(from);
  if (layers == 1 && hidden == 24) return std::make_unique<Network<24, 1>>(from);
  if (layers == 2 && hidden == 8) return std::make_unique<Network<8, 2>>(from);
  if (layers == 2 && hidden == 16) return std::make_unique<Network<16, 2>>(from);
  return nullptr;
}

}  // namespace rnnpack_bench
