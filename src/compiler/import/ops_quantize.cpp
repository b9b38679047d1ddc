// ops_quantize.cpp -- QuantizeLinear and DequantizeLinear of what is computed at run time: the number in between is what a layer of
// whole numbers quantises its x by. Contract: builder.h. SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "compiler/eval/quantized_range.h"
#include "compiler/import/builder.h"

namespace rnnp::compiler {
namespace {

struct Grid {
  double scale, zero;
};

Grid grid_of(const OpCall &call) {
  const Tensor &scale = call.constant(1, "the scale");
  const Tensor *zero = call.has(2) ? &call.constant(2, "the zero point") : nullptr;
  if (scale.size() != 1 || (zero != nullptr && zero->size() != 1))
    throw Refusal("its scale has shape " + shape_text(scale.shape) + "; accepted: one number for what is computed at run time");
  return {scale.data[0], zero == nullptr ? 0 : zero->data[0]};
}

// Bytes of panels are whole numbers from -127 to 127 around 0. Another range is no scale of x.
void quantize(OpCall &call) {
  View x = call.real_view(0);
  const Grid grid = grid_of(call);
  if (!std::isfinite(grid.scale) || grid.scale <= 0) throw Refusal("its scale is not a finite number above 0");
  const int type =
      call.has(2) ? call.constant(2, "the zero point").file_type : static_cast<int>(call.attributes.integer("output_dtype", 0));
  const QuantizedRange range = quantized_range(type);
  const bool bytes = range.least - grid.zero == -128 && range.most - grid.zero == 127;
  x.quantized = x.value;
  x.grid_scale = grid.scale;
  x.grid_zero = grid.zero;
  x.step = bytes ? static_cast<float>(grid.scale) : 0.0f;
  if (!call.b.discovering && !bytes && range.most - range.least == 255)
    call.b.graph.notes.push_back("node " + quote(call.name) + " quantises to bytes around " +
                                 std::to_string(static_cast<int>(grid.zero)) +
                                 ", which panels of int8 do not have: a layer that reads it finds a scale for each row and step");
  call.give(0, x);
}

View with_number(const OpCall &call, Binary op, const View &x, double v) {
  Tensor number(Elem::kFloat, {});
  number.data[0] = v;
  return call.b.binary(op, x, call.b.const_view(number), call.name);
}

// Behind QuantizeLinear of the same grid nothing is left; another grid stretches and shifts.
void dequantize(OpCall &call) {
  View x = call.any_view(0);
  const Grid grid = grid_of(call);
  if (x.quantized == x.value) {
    const double stretch = grid.scale / x.grid_scale, shift = (x.grid_zero - grid.zero) * grid.scale;
    x.quantized = kNone;
    x.step_of = x.step == static_cast<float>(grid.scale) ? x.value : kNone;
    if (stretch != 1) x = with_number(call, Binary::kMul, x, stretch);
    if (shift != 0) x = with_number(call, Binary::kAdd, x, shift);
    call.give(0, x);
    return;
  }
  View y = call.number_view(0);
  if (grid.zero != 0) y = with_number(call, Binary::kSub, y, grid.zero);
  call.give(0, with_number(call, Binary::kMul, y, grid.scale));
}

}  // namespace

const std::vector<ImportRow> kImportQuantize = {
    {"QuantizeLinear", quantize, "constants; at run time before DequantizeLinear, with one scale: x of layers stored as int8"},
    {"DequantizeLinear", dequantize, "constants: weights keep their integers; at run time with one scale"},
};

}  // namespace rnnp::compiler
