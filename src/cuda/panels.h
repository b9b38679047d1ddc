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
  return !is_sparse(f) && f.factor == DType::kF32 &&
         (f.weight == DType::kF32 || f.weight == DType::kF16 || f.weight == DType::kBf16);
}

// What panels of a format are multiplied as where dense numbers are as `floats`; false: no kernel reads them.
inline bool kind_of_panels(const PanelFormat &f, Weights floats, Weights *kind) {
  if (is_ell(f)) return false;
  const bool floats_in_blocks = f.weight == DType::kF32 || f.weight == DType::kBf16;
  if (is_sparse(f) && f.nr == kPanelUnits && (floats_in_blocks || f.weight == DType::kI8)) {
    *kind = floats_in_blocks ? Weights::kBlocks : Weights::kByteBlocks;
  } else if (is_dense_numbers(f)) {
    *kind = floats;
  } else if (!is_sparse(f) && f.scales == Scales::kPerUnit && f.weight == DType::kI8) {
    *kind = Weights::kI8;
  } else if (!is_sparse(f) && f.weight == DType::kI4) {
    *kind = Weights::kI4;
  } else {
    return false;
  }
  return true;
}

float value_of_f16(uint16_t bits);
uint16_t f16_of_value(float value);   // nearest, halves to the even one
uint16_t bf16_of_value(float value);  // the same

// Why kind_of_panels says no, and what would do.
inline const char *words_for_panels(const PanelFormat &f) {
  if (is_ell(f)) return "single weights with an index each have no kernel on a GPU: compile the model with --sparse blocks or off";
  if (f.factor == DType::kBf16) return "products of bf16 have no kernel on a GPU: compile the model without --arithmetic bf16";
  return is_fixed_point(f) ? "an integer-only layer has no kernel on a GPU: compile the model without --arithmetic integer"
                           : "no kernel on a GPU reads these panels: compile the model with other --weights";
}

// Of matrix `index` of its `count`; of int8 and int4 the stored number.
float weight_in_panels(const Matrix &m, uint32_t index, uint32_t gate, uint32_t unit, uint32_t k);

// A number per gate and unit beside a matrix's panels: [count][tiles][gates][NR].
inline float number_beside(const Matrix &m, const float *numbers, uint32_t gates, uint32_t gate, uint32_t unit) {
  const uint32_t nr = m.format.nr == 0 ? m.shape.units : m.format.nr;
  return numbers[(size_t{unit / nr} * gates + gate) * nr + unit % nr];
}

// Of blocks: four bytes, or the bits of one f32, of a unit; part: which k of the block, of floats. Those of bf16 are f32 here.
uint32_t word_in_block(const Matrix &m, size_t entry, uint32_t part, uint32_t unit);

// Of int4: what the stored numbers of this k are multiplied by.
inline float scale_of_group(const Matrix &m, uint32_t index, uint32_t gate, uint32_t unit, uint32_t k) {
  const uint32_t nr = m.format.nr == 0 ? m.shape.units : m.format.nr, groups = ceil_div(m.shape.k, m.group_k);
  const float *scales = m.scales + scales_bytes(m.format, m.shape, m.group_k) / sizeof(float) * index;
  return scales[((size_t{unit / nr} * groups + k / m.group_k) * m.shape.gates + gate) * nr + unit % nr];
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PANELS_H_
