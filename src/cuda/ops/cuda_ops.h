// cuda_ops.h -- the operators of CUDA sessions: the runtime's Op (ops/op.h), whose run enqueues launches. Each checks a node by the
// CPU operator of its kind, so both accept the same blobs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_OPS_CUDA_OPS_H_
#define RNNPACK_CUDA_OPS_CUDA_OPS_H_

#include "cuda/context.h"
#include "cuda/panels.h"

namespace rnnp {
namespace cuda {

extern const Op op_recurrent, op_dense;
extern const Op op_unary, op_binary, op_where, op_copy, op_softmax, op_norm, op_reduce, op_matmul, op_gather;
extern const Op op_time_step, op_time_reduce, op_state_read, op_state_write, op_conv, op_pool;

// A recurrent node of a session.
struct RecurrentNode {
  Context *context;
  LayerPlan plan;

  struct Direction {
    const uint8_t *w, *r;
    const float *bias, *r_bias, *peephole;
  } direction[2];
};

LayerPlan plan_recurrent_node(const Context &context, const AttrRecurrent &a, uint32_t chunk_steps);

// A matrix as blocks of s.units of its units: weight(gate, unit, k) each.
template <class Weight>
const uint8_t *pack_image(Context *c, const Shape &s, uint32_t all_units, Weight weight) {
  const Weights type = c->limits.weights;
  const uint32_t blocks = ceil_div(all_units, s.units);
  const size_t bytes = image_bytes(type, s);
  const Image::Part part = c->image.reserve(mul_sat(blocks, bytes));
  if (part.host == nullptr) return part.device;
  zero_bytes(part.host, blocks * bytes);
  for (uint32_t unit = 0; unit < all_units; ++unit) {
    for (uint32_t gate = 0; gate < s.gates; ++gate) {
      const uint32_t row = row_of_gate(type, s.gates, unit % s.units, gate);
      for (uint32_t k = 0; k < s.k; ++k) {
        uint8_t *to = part.host + unit / s.units * bytes + place_of_weight(type, s, row, k);
        const float v = weight(gate, unit, k);
        const uint16_t half = f16_of_value(v);
        if (type == Weights::kF16) {
          copy_bytes(to, &half, sizeof half);
        } else {
          copy_bytes(to, &v, sizeof v);
        }
      }
    }
  }
  return part.device;
}
// The same for one number per gate and unit.
template <class Number>
const float *pack_numbers(Context *c, const Shape &s, uint32_t all_units, Number number) {
  const Weights type = c->limits.weights;
  const uint32_t blocks = ceil_div(all_units, s.units), rows = block_rows(type, s);
  const size_t bytes = mul_sat(mul_sat(blocks, rows), sizeof(float));
  const Image::Part part = c->image.reserve(bytes);
  if (part.host == nullptr) return view_as<float>(part.device);
  zero_bytes(part.host, bytes);
  for (uint32_t unit = 0; unit < all_units; ++unit) {
    for (uint32_t gate = 0; gate < s.gates; ++gate) {
      const float v = number(gate, unit);
      const size_t row = size_t{unit / s.units} * rows + row_of_gate(type, s.gates, unit % s.units, gate);
      copy_bytes(part.host + row * sizeof v, &v, sizeof v);
    }
  }
  return view_as<float>(part.device);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_OPS_CUDA_OPS_H_
