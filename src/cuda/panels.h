// panels.h -- which kernels multiply a matrix of the blob, and weights out of its panels, one at a time: what the device's image is
// packed from.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_PANELS_H_
#define RNNPACK_CUDA_PANELS_H_

#include "cuda/device_layout.h"
#include "format/model.h"

namespace rnnp {
namespace cuda {

inline bool is_dense_numbers(const PanelFormat &f) {
  return !is_sparse(f) && (f.weight == DType::kF32 || f.weight == DType::kF16 || f.weight == DType::kBf16);
}

// What panels of a format are multiplied as where dense numbers are as `floats`; false: no kernel reads them.
inline bool kind_of_panels(const PanelFormat &f, Weights floats, Weights *kind) {
  if (is_sparse(f) && f.nr == kPanelUnits && (f.weight == DType::kF32 || f.weight == DType::kI8)) {
    *kind = f.weight == DType::kI8 ? Weights::kByteBlocks : Weights::kBlocks;
  } else if (is_dense_numbers(f)) {
    *kind = floats;
  } else if (!is_sparse(f) && f.scales == Scales::kPerUnit && f.weight == DType::kI8) {
    *kind = Weights::kI8;
  } else {
    return false;
  }
  return true;
}

float value_of_f16(uint16_t bits);
uint16_t f16_of_value(float value);   // nearest, halves to the even one
uint16_t bf16_of_value(float value);  // the same

// Of matrix `index` of its `count`; of int8 the stored number.
float weight_in_panels(const Matrix &m, uint32_t index, uint32_t gate, uint32_t unit, uint32_t k);

// A number per gate and unit beside a matrix's panels: [count][tiles][gates][NR].
inline float number_beside(const Matrix &m, const float *numbers, uint32_t gates, uint32_t gate, uint32_t unit) {
  const uint32_t nr = m.format.nr == 0 ? m.shape.units : m.format.nr;
  return numbers[(size_t{unit / nr} * gates + gate) * nr + unit % nr];
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PANELS_H_
