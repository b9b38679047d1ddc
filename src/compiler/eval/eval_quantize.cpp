// eval_quantize.cpp -- QuantizeLinear and DequantizeLinear in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/eval/eval.h"
#include "compiler/eval/quantized_range.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Which scale is that of an element: one for all, one for each index of an axis, or one for a block of indices.
class Scales {
 public:
  Scales(const EvalCall &call, const Shape &shape) : scale_(call.input(1)), zero_(call.has(2) ? call.in[2] : nullptr) {
    const bool one_each = scale_.size() == 1 && zero_ != nullptr && zero_->size() == 1;  // onnxruntime writes [] for [1]
    if (zero_ != nullptr && !one_each && zero_->shape != scale_.shape)
      throw Refusal("its zero point has shape " + shape_text(zero_->shape) + ", its scale " + shape_text(scale_.shape));
    if (scale_.size() == 1 && scale_.rank() <= 1) return;
    const size_t axis = normal_axis(call.attributes.integer("axis", 1), shape.size());
    block_ = call.attributes.integer("block_size", 0);
    if (block_ < 0) throw Refusal("attribute 'block_size' is " + std::to_string(block_) + "; accepted: 0 and more");
    Shape wanted = {shape[axis]};
    if (block_ > 0) {
      wanted = shape;
      wanted[axis] = blocks_of(shape[axis]);
    }
    if (scale_.shape != wanted)
      throw Refusal("its scale has shape " + shape_text(scale_.shape) + "; accepted: " + shape_text(wanted) + " or one number");
    inner_ = 1;
    for (size_t i = axis + 1; i < shape.size(); ++i) inner_ *= shape[i];
    size_ = shape[axis];
  }

  double scale(int64_t i) const { return scale_.data[at(i)]; }
  double zero(int64_t i) const { return zero_ == nullptr ? 0 : zero_->data[at(i)]; }

 private:
  int64_t blocks_of(int64_t size) const { return size / block_ + (size % block_ != 0 ? 1 : 0); }
  size_t at(int64_t i) const {
    if (size_ == 0) return 0;
    const int64_t index = i / inner_ % size_;
    if (block_ == 0) return static_cast<size_t>(index);
    return static_cast<size_t>((i / inner_ / size_ * blocks_of(size_) + index / block_) * inner_ + i % inner_);
  }

  const Tensor &scale_;
  const Tensor *zero_;
  int64_t block_ = 0, inner_ = 1, size_ = 0;
};

// Steps are those of f32, as panels have them. An integer times its scale is rounded as f32 arithmetic does it.
void dequantize(EvalCall &call) {
  const Tensor &x = call.input(0);
  const Scales scales(call, x.shape);
  Tensor out(Elem::kFloat, x.shape);
  out.file_type = x.file_type;
  const bool whole = x.file_type == kOnnxInt8 || x.file_type == kOnnxUint8 || x.file_type == kOnnxInt4 || x.file_type == kOnnxUint4;
  if (whole) out.steps.resize(x.data.size());
  for (size_t i = 0; i < x.data.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i);
    const double scale = scales.scale(at);
    out.data[i] = static_cast<double>(static_cast<float>((x.data[i] - scales.zero(at)) * scale));
    if (whole) out.steps[i] = static_cast<float>(scale);
  }
  call.give(std::move(out));
}

void quantize(EvalCall &call) {
  const Tensor &x = call.input(0);
  const Scales scales(call, x.shape);
  const QuantizedRange range =
      quantized_range(call.has(2) ? call.in[2]->file_type : static_cast<int>(call.attributes.integer("output_dtype", 0)));
  Tensor out(Elem::kInt, x.shape);
  out.file_type = range.type;
  for (size_t i = 0; i < x.data.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i);
    const double q = std::nearbyint(x.data[i] / scales.scale(at)) + scales.zero(at);
    out.data[i] = std::isnan(q) ? 0 : std::clamp(q, range.least, range.most);
  }
  call.give(std::move(out));
}

}  // namespace

QuantizedRange quantized_range(int type) {
  switch (type) {
    case 0:
    case kOnnxUint8:
      return {kOnnxUint8, 0, 255};
    case kOnnxInt8:
      return {type, -128, 127};
    case kOnnxUint16:
      return {type, 0, 65535};
    case kOnnxInt16:
      return {type, -32768, 32767};
    case kOnnxInt32:
      return {type, -2147483648.0, 2147483647.0};
    case kOnnxUint4:
      return {type, 0, 15};
    case kOnnxInt4:
      return {type, -8, 7};
    default:
      throw Refusal("it quantises to the element type " + std::to_string(type) + "; accepted: integers of 4, 8 and 16 bits");
  }
}

const std::vector<EvalRow> kEvalQuantize = {{"DequantizeLinear", dequantize}, {"QuantizeLinear", quantize}};

}  // namespace rnnp::compiler
