// samples.cpp -- Contract: samples.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/samples.h"

#include <algorithm>
#include <cmath>

#include "compiler/eval/eval_window.h"
#include "compiler/eval/evaluated_layer.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

size_t samples_for(double work, double each, double elements) {
  constexpr double kFewest = 48, kMostSamples = 8192;
  return static_cast<size_t>(std::min(std::clamp(work / std::max(each, 1.0), kFewest, kMostSamples), elements));
}

void add_term(double a, double b, Sample *to) {
  to->value += a * b;
  to->magnitude += std::fabs(a * b);
}

// Conv and ConvTranspose. Both: the large side's place is small * stride + tap * dilation - before.
class SampledConv : public SampledNode {
 public:
  SampledConv(const EvalCall &call, bool transposed)
      : x_(call.input(0)), w_(call.input(1)), bias_(call.has(2) ? call.in[2] : nullptr), transposed_(transposed) {
    const Shape spatial = spatial_of(x_.shape);
    kernel_ = spatial_of(w_.shape);
    window_ =
        transposed ? conv_transpose_window(call.attributes, spatial, kernel_) : conv_window(call.attributes, spatial, kernel_);
    group_ = std::max<int64_t>(call.attributes.integer("group", 1), 1);
    maps_ = transposed ? w_.shape[1] * group_ : w_.shape[0];
    in_ = x_.shape[1] / group_;
    strides_ = dense_strides(spatial);
    plane_ = element_count(spatial);
    taps_ = element_count(kernel_);
  }

  Shape shape(size_t) const override {
    Shape out{x_.shape[0], maps_};
    for (const WindowAxis &axis : window_) out.push_back(axis.out);
    return out;
  }
  double work() const override { return static_cast<double>(element_count(shape(0))) * each(); }

  std::vector<Sample> draw(double work, uint32_t seed, const Tensor &) const override {
    const Shape dims = shape(0), strides = dense_strides(dims);
    Places places(seed);
    std::vector<Sample> out(samples_for(work, each(), static_cast<double>(element_count(dims))));
    for (size_t i = 0; i < out.size(); ++i) {
      Shape at{places.index(dims[0]), static_cast<int64_t>(i) % maps_};
      for (size_t axis = 2; axis < dims.size(); ++axis) at.push_back(places.index(dims[axis]));
      for (size_t axis = 0; axis < dims.size(); ++axis) out[i].at += at[axis] * strides[axis];
      sum(at, &out[i]);
    }
    return out;
  }

 private:
  double each() const { return static_cast<double>(taps_ * in_); }

  void sum(const Shape &at, Sample *to) const {
    const int64_t maps = maps_ / group_, group = at[1] / maps;
    if (bias_) add_term(1, bias_->data[static_cast<size_t>(at[1])], to);
    Shape tap(kernel_.size(), 0);
    for (int64_t k = 0; k < taps_; ++k) {
      const int64_t place = place_under(at, tap);
      for (int64_t c = 0; place >= 0 && c < in_; ++c) {
        const int64_t channel = group * in_ + c;
        const int64_t weight = transposed_ ? (channel * maps + at[1] % maps) * taps_ + k : (at[1] * in_ + c) * taps_ + k;
        add_term(w_.data[static_cast<size_t>(weight)],
                 x_.data[static_cast<size_t>((at[0] * x_.shape[1] + channel) * plane_ + place)], to);
      }
      for (size_t i = tap.size(); i-- > 0 && ++tap[i] == kernel_[i];) tap[i] = 0;
    }
  }

  // In the plane of x; -1: outside.
  int64_t place_under(const Shape &at, const Shape &tap) const {
    int64_t place = 0;
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowAxis &axis = window_[i];
      int64_t index = at[i + 2] * axis.stride + tap[i] * axis.dilation - axis.before;
      if (transposed_) {
        index = at[i + 2] + axis.before - tap[i] * axis.dilation;
        if (index % axis.stride != 0) return -1;
        index /= axis.stride;
      }
      if (index < 0 || index >= x_.shape[i + 2]) return -1;
      place += index * strides_[i];
    }
    return place;
  }

  const Tensor &x_, &w_;
  const Tensor *bias_;
  bool transposed_;
  Window window_;
  Shape kernel_, strides_;
  int64_t group_, maps_, in_, plane_, taps_;
};

// MatMul and Gemm: rows of A by columns of B, with strides of any order.
class SampledProduct : public SampledNode {
 public:
  explicit SampledProduct(const EvalCall &call) : a_(call.input(0)), b_(call.input(1)) {
    call.node.op_type() == "Gemm" ? read_gemm(call) : read_matmul();
  }

  Shape shape(size_t) const override { return shape_; }
  double work() const override {
    return static_cast<double>(element_count(outer_)) * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(k_);
  }

  std::vector<Sample> draw(double work, uint32_t seed, const Tensor &) const override {
    const Shape dense = dense_strides(outer_);
    Places places(seed);
    std::vector<Sample> out(samples_for(work, static_cast<double>(k_), static_cast<double>(element_count(shape_))));
    for (size_t i = 0; i < out.size(); ++i) {
      int64_t block = 0, from_a = 0, from_b = 0;
      for (size_t axis = 0; axis < outer_.size(); ++axis) {
        const int64_t index = places.index(outer_[axis]);
        block += index * dense[axis];
        from_a += index * outer_a_[axis];
        from_b += index * outer_b_[axis];
      }
      const int64_t r = places.index(m_), c = static_cast<int64_t>(i) % n_;
      out[i].at = (block * m_ + r) * n_ + c;
      sum(from_a * m_ * k_ + r * row_a_, from_b * k_ * n_ + c * column_b_, r, c, &out[i]);
    }
    return out;
  }

 private:
  void read_matmul() {
    Shape a = a_.shape, b = b_.shape;
    if (a.empty() || b.empty()) throw Refusal("an input is a scalar");
    const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
    if (vector_a) a.insert(a.begin(), 1);
    if (vector_b) b.push_back(1);
    m_ = a[a.size() - 2], k_ = a.back(), n_ = b.back();
    if (b[b.size() - 2] != k_) throw Refusal("shapes do not multiply");
    const Shape outer_a(a.begin(), a.end() - 2), outer_b(b.begin(), b.end() - 2);
    outer_ = broadcast_shape(outer_a, outer_b);
    outer_a_ = broadcast_strides(outer_a, outer_);
    outer_b_ = broadcast_strides(outer_b, outer_);
    row_a_ = k_, step_a_ = 1, step_b_ = n_, column_b_ = 1;
    shape_ = outer_;
    if (!vector_a) shape_.push_back(m_);
    if (!vector_b) shape_.push_back(n_);
  }

  void read_gemm(const EvalCall &call) {
    const bool ta = call.attributes.integer("transA", 0) != 0, tb = call.attributes.integer("transB", 0) != 0;
    if (a_.rank() != 2 || b_.rank() != 2) throw Refusal("its inputs must have rank 2");
    m_ = a_.shape[ta], k_ = a_.shape[!ta], n_ = b_.shape[!tb];
    if (b_.shape[tb] != k_) throw Refusal("shapes do not multiply");
    row_a_ = ta ? 1 : k_, step_a_ = ta ? m_ : 1, step_b_ = tb ? 1 : n_, column_b_ = tb ? k_ : 1;
    alpha_ = call.attributes.real("alpha", 1), beta_ = call.attributes.real("beta", 1);
    shape_ = {m_, n_};
    if (!call.has(2)) return;
    c_ = call.in[2];
    c_strides_ = broadcast_strides(c_->shape, shape_);
  }

  void sum(int64_t a, int64_t b, int64_t r, int64_t c, Sample *to) const {
    for (int64_t i = 0; i < k_; ++i)
      add_term(alpha_ * a_.data[static_cast<size_t>(a + i * step_a_)], b_.data[static_cast<size_t>(b + i * step_b_)], to);
    if (c_) add_term(beta_, c_->data[static_cast<size_t>(r * c_strides_[0] + c * c_strides_[1])], to);
  }

  const Tensor &a_, &b_;
  const Tensor *c_ = nullptr;
  double alpha_ = 1, beta_ = 1;
  Shape shape_, outer_, outer_a_, outer_b_, c_strides_;
  int64_t m_ = 0, n_ = 0, k_ = 0, row_a_ = 0, step_a_ = 0, step_b_ = 0, column_b_ = 0;
};

}  // namespace

bool can_be_sampled(const std::string &op_type) {
  return op_type == "Conv" || op_type == "ConvTranspose" || op_type == "MatMul" || op_type == "Gemm" || RecurrentLayer::is(op_type);
}

std::unique_ptr<SampledNode> sampled_node(const EvalCall &call) {
  const std::string &op = call.node.op_type();
  if (op == "Conv" || op == "ConvTranspose") return std::make_unique<SampledConv>(call, op == "ConvTranspose");
  if (op == "MatMul" || op == "Gemm") return std::make_unique<SampledProduct>(call);
  if (RecurrentLayer::is(op)) return sampled_layer(call);
  return nullptr;
}

}  // namespace rnnp::compiler
