// pack_image.h -- a matrix of the blob into the device's image, as its kernels read it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_PACK_IMAGE_H_
#define RNNPACK_CUDA_PACK_IMAGE_H_

#include "cuda/ops/recurrent_pieces.h"
#include "cuda/panels.h"

namespace rnnp {
namespace cuda {

// Numbers, or halves or bytes, as the kernels of `weights` have them. place: place_of_weight; where zeros are.
inline void put_weight(Weights weights, uint8_t *image, size_t place, float v) {
  uint8_t *to = image + (weights == Weights::kI4 ? place / 2 : place);
  if (weights == Weights::kI4) {
    *to = static_cast<uint8_t>(*to | (static_cast<int32_t>(v) & 15) << place % 2 * 4);
  } else if (weights == Weights::kF32) {
    copy_bytes(to, &v, sizeof v);
  } else if (weights == Weights::kI8) {
    *to = static_cast<uint8_t>(static_cast<int8_t>(v));
  } else {
    const uint16_t half = weights == Weights::kF16 ? f16_of_value(v) : bf16_of_value(v);
    copy_bytes(to, &half, sizeof half);
  }
}

// A dense matrix as blocks of s.units of its units: weight(gate, unit, k) each; of int4, scale(gate, unit, k) of each k-tile.
template <class Weight, class Scale>
const uint8_t *pack_weights(Context *c, Weights weights, const Shape &s, uint32_t all_units, Weight weight, Scale scale) {
  const uint32_t blocks = ceil_div(all_units, s.units);
  const size_t bytes = image_bytes(weights, s);
  const Image::Part part = c->image.reserve(mul_sat(blocks, bytes));
  if (part.host == nullptr) return part.device;
  zero_bytes(part.host, blocks * bytes);
  for (uint32_t unit = 0; unit < all_units; ++unit) {
    for (uint32_t gate = 0; gate < s.gates; ++gate) {
      const uint32_t row = row_of_gate(weights, s, unit % s.units, gate);
      uint8_t *block = part.host + unit / s.units * bytes;
      for (uint32_t k = 0; weights == Weights::kI4 && k < s.k; k += kNibbleTileK) {
        const float v = scale(gate, unit, k);
        copy_bytes(block + scale_place(in_halves(weights, s), row, k / kNibbleTileK), &v, sizeof v);
      }
      for (uint32_t k = 0; k < s.k; ++k) put_weight(weights, block, place_of_weight(weights, s, row, k), weight(gate, unit, k));
    }
  }
  return part.device;
}

// One number per gate and unit, in the order of the rows.
template <class Number>
const float *pack_numbers(Context *c, Weights weights, const Shape &s, uint32_t all_units, Number number) {
  const uint32_t blocks = ceil_div(all_units, s.units), rows = block_rows(weights, s);
  const size_t bytes = mul_sat(mul_sat(blocks, rows), sizeof(float));
  const Image::Part part = c->image.reserve(bytes);
  if (part.host == nullptr) return view_as<float>(part.device);
  zero_bytes(part.host, bytes);
  for (uint32_t unit = 0; unit < all_units; ++unit) {
    for (uint32_t gate = 0; gate < s.gates; ++gate) {
      const float v = number(gate, unit);
      const size_t row = size_t{unit / s.units} * rows + row_of_gate(weights, s, unit % s.units, gate);
      copy_bytes(part.host + row * sizeof v, &v, sizeof v);
    }
  }
  return view_as<float>(part.device);
}

// Blocks as they are, but f32 for bf16.
BlockMatrix put_blocks(Context *c, const Matrix &m);

// Matrix `index` of the gates of m, and of `last` the gate that follows them, if any.
struct GatesOf {
  const Matrix &m, &last;
  uint32_t index;
  bool apart(uint32_t gate) const { return gate >= m.shape.gates; }
  const Matrix &of(uint32_t gate) const { return apart(gate) ? last : m; }
  uint32_t within(uint32_t gate) const { return apart(gate) ? gate - m.shape.gates : gate; }
};
DeviceMatrix pack_matrix(Context *c, Weights weights, const Shape &s, const GatesOf &from);

// The slots of a sparse R for its resident kernel.
const uint8_t *pack_resident_blocks(Context *c, const LayerPlan &plan, uint32_t gates, const GatesOf &from);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PACK_IMAGE_H_
