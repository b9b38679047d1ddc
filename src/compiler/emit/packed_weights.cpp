// packed_weights.cpp -- Contract: packed_weights.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/packed_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/emit/integer_layer.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

template <class T>
void append(std::vector<T> *all, std::vector<T> one, size_t count) {
  if (all->empty()) {
    *all = std::move(one);
    if (count > 1) all->reserve(all->size() * count);
  } else {
    all->insert(all->end(), one.begin(), one.end());
  }
}

// Numbers on the diagonals of square gates, apart, and zeros in their places.
std::vector<float> take_diagonal(const MatrixSource &source, std::vector<float> *m) {
  std::vector<float> diagonal;
  for (uint32_t row = source.gate_begin * source.units; row < (source.gate_begin + source.gates) * source.units; ++row) {
    float &at = (*m)[size_t{row} * source.k + row % source.units];
    diagonal.push_back(at);
    at = 0;
  }
  return diagonal;
}

}  // namespace

uint32_t PackedWeights::add_bytes(std::vector<uint8_t> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  for (const size_t part : parts_of_[hash]) {
    if (parts_[part].bytes == bytes) return parts_[part].offset;
  }
  const uint64_t offset = (uint64_t{size_} + kBlobAlign - 1) / kBlobAlign * kBlobAlign;
  if (offset + bytes.size() > kMostBlobBytes) throw ModelError("the blob would be larger than 2 GiB");
  size_ = static_cast<uint32_t>(offset + bytes.size());
  parts_of_[hash].push_back(parts_.size());
  parts_.push_back({static_cast<uint32_t>(offset), std::move(bytes)});
  return parts_.back().offset;
}

void PackedWeights::move_to(std::vector<uint8_t> *file) {
  const size_t first = file->size();
  for (Part &part : parts_) {
    file->resize(first + part.offset);
    file->insert(file->end(), part.bytes.begin(), part.bytes.end());
    part.bytes = std::vector<uint8_t>();
  }
}

void PackedWeights::check_finite(const MatrixSource &source, uint32_t count) const {
  const float *first = source.m + size_t{source.gate_begin} * source.units * source.k;
  if (std::all_of(first, first + size_t{count} * source.gates * source.units * source.k, [](float w) { return std::isfinite(w); }))
    return;
  throw ModelError("node " + quote(node_) +
                   " has weights that are not finite numbers, so nothing can be their scale: compile it with --weights f32");
}

PanelFormat PackedWeights::panels_of(const Storage &storage) const {
  return compiler::panels_of(storage, panels_.nr, bytes_);
}

uint32_t PackedWeights::matrix(const PanelFormat &format, const Storage &storage, MatrixSource source, uint32_t count) {
  if (!storage.rounded.empty()) source.m = storage.rounded.data();
  if (format.scales != Scales::kUnscaled) check_finite(source, count);
  const size_t rows = size_t{source.gates} * source.units, groups = storage.groups(source.k);
  BlobMatrix out{};
  out.format = format.id;
  out.count = count;
  out.gates = source.gates;
  out.units = source.units;
  out.k = out.entries = source.k;
  out.diagonal = kNone;
  std::vector<float> apart;
  if (storage.diagonal) {
    apart.assign(source.m, source.m + (source.gate_begin + source.gates) * source.units * size_t{source.k});
    source.m = apart.data();
    out.diagonal = vector(format, take_diagonal(source, &apart), source.units, source.gates);
  }
  PackedMatrix all;
  if (!storage.scales.empty()) source.scales = storage.scales.data();
  source.group_k = storage.group_k;
  for (uint32_t i = 0; i < count; ++i) {
    PackedMatrix one = pack_matrix(format, source);
    append(&all.panels, std::move(one.panels), count);
    append(&all.scales, std::move(one.scales), count);
    append(&all.unit_sums, std::move(one.unit_sums), count);
    append(&all.multipliers, std::move(one.multipliers), count);
    out.group_k = one.group_k;
    append(&all.index, std::move(one.index), count);
    if (is_sparse(format)) out.entries = one.entries;
    source.m += rows * source.k;
    if (source.scales != nullptr) source.scales += rows * groups;
  }
  out.panels = all.panels.empty() ? kNone : add_bytes(std::move(all.panels));
  out.scales = is_fixed_point(format) ? add_if_any(all.multipliers) : add_if_any(all.scales);
  out.unit_sums = add_if_any(all.unit_sums);
  out.index = add_if_any(all.index);
  out.tile_first = kNone;
  if (format.factor == DType::kI8) out.lhs_scale = storage.lhs_scale;
  if (is_fixed_point(format)) out.lhs_scale = leading_bits(1.0f / storage.lhs_scale);
  return static_cast<uint32_t>(matrices_.append(&out, sizeof out) / sizeof out);
}

uint32_t PackedWeights::vector(const PanelFormat &format, const std::vector<float> &v, uint32_t units, uint32_t gates,
                               uint32_t count) {
  if (v.empty()) return kNone;
  std::vector<float> all;
  for (uint32_t i = 0; i < count; ++i) {
    const std::vector<float> one = pack_vector(format, v.data() + size_t{i} * gates * units, units, gates);
    all.insert(all.end(), one.begin(), one.end());
  }
  return add(all);
}

}  // namespace rnnp::compiler
