// pack_image.cpp -- Contract: pack_image.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/pack_image.h"

#include "cuda/pack_gathers.h"

namespace rnnp {
namespace cuda {
namespace {

// A number beside the panels of a matrix that may be one of several.
float beside(const Matrix &m, uint32_t index, const float *numbers, uint32_t gate, uint32_t unit) {
  const size_t elems = vector_bytes(m.format, m.shape) / sizeof(float);
  return numbers == nullptr ? 0.0f : number_beside(m, numbers + index * elems, m.shape.gates, gate, unit);
}

ByteScales pack_scales(Context *c, Weights weights, const Shape &s, const GatesOf &from) {
  ByteScales scales = {};
  const uint32_t units = from.m.shape.units;
  if (are_bytes(weights) && weights != Weights::kI4) {
    scales.scale = pack_numbers(c, weights, s, units, [&](uint32_t gate, uint32_t unit) {
      return beside(from.of(gate), from.index, from.of(gate).scales, from.within(gate), unit);
    });
  }
  if (from.m.diagonal != nullptr || from.last.diagonal != nullptr) {
    scales.diagonal = pack_numbers(c, weights, s, units, [&](uint32_t gate, uint32_t unit) {
      return beside(from.of(gate), from.index, from.of(gate).diagonal, from.within(gate), unit);
    });
  }
  scales.factor = from.m.lhs_scale;
  scales.group_k = from.m.group_k;
  return scales;
}

}  // namespace

BlockMatrix put_blocks(Context *c, const Matrix &m) {
  const uint32_t parts = m.format.weight == DType::kI8 ? 1 : kBlockK;
  const Image::Part part = c->image.reserve(mul_sat(mul_sat(m.shape.entries, parts), kPanelUnits * sizeof(uint32_t)));
  uint8_t *to = part.host;
  for (size_t entry = 0; to != nullptr && entry < m.shape.entries; ++entry) {
    for (uint32_t i = 0; i < parts * kPanelUnits; ++i, to += sizeof(uint32_t)) {
      const uint32_t word = word_in_block(m, entry, i / kPanelUnits, i % kPanelUnits);
      copy_bytes(to, &word, sizeof word);
    }
  }
  const uint8_t *index = c->image.put_bytes(m.index, index_bytes(m.format, m.shape));
  const uint32_t *first = view_as<uint32_t>(index);
  const uint16_t *quads = index == nullptr ? nullptr : view_as<uint16_t>(first + sparse_columns(m.format, m.shape) + 1);
  return {part.device, first, quads, m.shape.gates, m.format.index_bytes / 2u};
}

DeviceMatrix pack_matrix(Context *c, Weights weights, const Shape &s, const GatesOf &from) {
  DeviceMatrix d = {};
  if (are_blocks(weights)) {
    d.blocks = put_blocks(c, from.m);
  } else {
    d.image = pack_weights(
        c, weights, s, from.m.shape.units,
        [&](uint32_t gate, uint32_t unit, uint32_t k) {
          return weight_in_panels(from.of(gate), from.index, from.within(gate), unit, k);
        },
        [&](uint32_t gate, uint32_t unit, uint32_t k) {
          return scale_of_group(from.of(gate), from.index, from.within(gate), unit, k);
        });
  }
  d.scales = pack_scales(c, weights, s, from);
  return d;
}

const uint8_t *pack_resident_blocks(Context *c, const LayerPlan &plan, uint32_t gates, const GatesOf &from) {
  const uint32_t hidden = from.m.shape.units;
  const GatherShape s = {gates, hidden, plan.units, {plan.bundles[0], plan.bundles[1], plan.bundles[2], plan.bundles[3]}};
  const size_t bytes = gather_block_bytes(s);
  const Image::Part part = c->image.reserve(mul_sat(plan.blocks, bytes));
  if (part.host == nullptr) return part.device;
  zero_bytes(part.host, plan.blocks * bytes);
  for (uint32_t unit = 0; unit < hidden; unit += kGroupUnits) {
    uint8_t *block = part.host + unit / plan.units * bytes;
    for (uint32_t gate = 0; gate < gates; ++gate) {
      const Matrix &m = from.of(gate);
      pack_row_group(plan.weights, s, unit % plan.units / kGroupUnits * gates + gate, m, row_group_of(m, from.within(gate), unit),
                     block);
    }
  }
  return part.device;
}

}  // namespace cuda
}  // namespace rnnp
