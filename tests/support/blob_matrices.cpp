// blob_matrices.cpp -- the matrices of blobs that tests build, in any panel format. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "pack/pack.h"
#include "support/blob_builder.h"
#include "support/blob_tables.h"

namespace rnnp_test {

using rnnp::kNone;

static const rnnp::PanelFormat &panels_of(rnnp::DType type, uint32_t nr, uint32_t index_bytes, bool rounds_lhs = false) {
  for (const rnnp::PanelFormat &f : rnnp::kPanelFormats) {
    if (rounds_lhs && f.factor != rnnp::DType::kBf16) continue;
    if (f.weight == type && f.nr == nr && f.index_bytes == index_bytes) return f;
  }
  std::abort();
}

void append_matrix(const rnnp::PackedMatrix &one, rnnp::PackedMatrix *all) {
  all->panels.insert(all->panels.end(), one.panels.begin(), one.panels.end());
  all->scales.insert(all->scales.end(), one.scales.begin(), one.scales.end());
  all->unit_sums.insert(all->unit_sums.end(), one.unit_sums.begin(), one.unit_sums.end());
  all->index = one.index;
  all->entries = one.entries;
  all->group_k = one.group_k;
}

// panel[k][g][n] of every tile, straight from pack/layout.h's words.
std::vector<float> BlobBuilder::panels(const std::vector<double> &m, uint32_t units, uint32_t k, uint32_t first_gate,
                                       uint32_t gates) const {
  const uint32_t tiles = (units + nr_ - 1) / nr_;
  std::vector<float> out;
  for (uint32_t tile = 0; tile < tiles; ++tile)
    for (uint32_t kk = 0; kk < k; ++kk)
      for (uint32_t g = first_gate; g < first_gate + gates; ++g)
        for (uint32_t n = 0; n < nr_; ++n) {
          const uint32_t unit = tile * nr_ + n;
          out.push_back(unit < units ? static_cast<float>(m[(size_t{g} * units + unit) * k + kk]) : 0.0f);
        }
  return out;
}

uint32_t BlobBuilder::pack_vector(const std::vector<double> &v, uint32_t units, uint32_t gates) {
  return put(panels(v, units, 1, 0, gates));
}

uint32_t BlobBuilder::pack_matrix(const std::vector<double> &m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates,
                                  rnnp::DType type) {
  if (block_units != 0 && nr_ == 16 &&
      (type == rnnp::DType::kF32 || type == rnnp::DType::kI8 || (type == rnnp::DType::kBf16 && block_units != 1)))
    return pack_sparse(m, units, k, first_gate, gates, type);
  if (type == rnnp::DType::kF32) return add_matrix(gates, units, k, put(panels(m, units, k, first_gate, gates)));
  return pack_matrices(type, std::vector<float>(m.begin(), m.end()), {nullptr, units, k, first_gate, gates}, 1);
}

void BlobBuilder::thin_out(std::vector<double> *rows, uint32_t units, uint32_t k) const {
  for (size_t at = 0; block_units != 0 && nr_ == 16 && at < rows->size(); ++at) {
    const size_t unit = at / k % units, column = at % k, block = unit / block_units * 3 + column / 4 + at / k / units;
    if (block % 5 != 0 && unit + column != 0) (*rows)[at] = 0;
  }
}

uint32_t BlobBuilder::pack_sparse(std::vector<double> m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates,
                                  rnnp::DType type) {
  thin_out(&m, units, k);
  const std::vector<float> rows(m.begin(), m.end());
  const rnnp::PanelFormat &format = panels_of(type, nr_, 2 * nr_ / block_units);
  const rnnp::PackedMatrix packed = rnnp::pack_matrix(format, {rows.data(), units, k, first_gate, gates});
  const uint32_t matrix = add_matrix(gates, units, k, put(packed.panels));
  rnnp::BlobMatrix &out = matrices_[matrix];
  out.format = format.id;
  out.entries = packed.entries;
  out.index = put(packed.index);
  if (!packed.scales.empty()) out.scales = put(packed.scales);
  if (!packed.unit_sums.empty()) out.unit_sums = put(packed.unit_sums);
  if (diagonal && type == rnnp::DType::kI8) out.diagonal = pack_diagonal(format, units, gates, 1);
  return matrix;
}

uint32_t BlobBuilder::pack_matrices(rnnp::DType type, const std::vector<float> &rows, rnnp::MatrixSource source, uint32_t count) {
  const rnnp::PanelFormat &format = panels_of(type, nr_, 0, rounds_lhs && type == rnnp::DType::kBf16);
  rnnp::PackedMatrix all;
  source.group_k = group_k;
  for (uint32_t i = 0; i < count; ++i) {
    source.m = rows.data() + size_t{i} * source.gates * source.units * source.k;
    append_matrix(rnnp::pack_matrix(format, source), &all);
  }
  const uint32_t matrix = add_matrix(source.gates, source.units, source.k, put(all.panels), count);
  rnnp::BlobMatrix &out = matrices_[matrix];
  out.format = format.id;
  if (all.scales.empty()) return matrix;
  out.scales = put(all.scales);
  out.unit_sums = all.unit_sums.empty() ? kNone : put(all.unit_sums);
  out.group_k = all.group_k;
  out.lhs_scale = matrix % 2 == 0 ? 0.0f : 1.0f / 127.0f;
  if (diagonal) out.diagonal = pack_diagonal(format, source.units, source.gates, count);
  return matrix;
}

uint32_t BlobBuilder::pack_diagonal(const rnnp::PanelFormat &format, uint32_t units, uint32_t gates, uint32_t count) {
  std::vector<float> all;
  for (uint32_t i = 0; i < count; ++i) {
    const std::vector<double> numbers = random(size_t{units} * gates, 0.5);
    const std::vector<float> v(numbers.begin(), numbers.end()), packed = rnnp::pack_vector(format, v.data(), units, gates);
    all.insert(all.end(), packed.begin(), packed.end());
  }
  return put(all);
}

uint32_t BlobBuilder::add_matrix(uint32_t gates, uint32_t units, uint32_t k, uint32_t at, uint32_t count) {
  matrices_.push_back({format_of_nr(nr_), count, gates, units, k, k, at, kNone, kNone, kNone, 0, kNone, kNone, 0.0f, 0, {}});
  return static_cast<uint32_t>(matrices_.size() - 1);
}

}  // namespace rnnp_test
