// panels.h -- weights out of the blob's panels, one at a time, as f32: what the device's image is packed from.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_PANELS_H_
#define RNNPACK_CUDA_PANELS_H_

#include "format/model.h"

namespace rnnp {
namespace cuda {

// Formats that can be read here: f32, f16 and bf16, every k with its place and no scale.
inline bool panels_are_readable(const Matrix &m) {
  const PanelFormat &f = m.format;
  const bool type = f.weight == DType::kF32 || f.weight == DType::kF16 || f.weight == DType::kBf16;
  return type && f.scales == Scales::kUnscaled && f.index_bytes == 0 && m.diagonal == nullptr && m.shape.entries == m.shape.k;
}

float value_of_f16(uint16_t bits);
uint16_t f16_of_value(float value);  // nearest, halves to the even one

// Of matrix `index` of its `count`.
float weight_in_panels(const Matrix &m, uint32_t index, uint32_t gate, uint32_t unit, uint32_t k);

// A number per gate and unit beside a matrix's panels: [count][tiles][gates][NR].
inline float number_beside(const Matrix &m, const float *numbers, uint32_t gates, uint32_t gate, uint32_t unit) {
  const uint32_t nr = m.format.nr == 0 ? m.shape.units : m.format.nr;
  return numbers[(size_t{unit / nr} * gates + gate) * nr + unit % nr];
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PANELS_H_
