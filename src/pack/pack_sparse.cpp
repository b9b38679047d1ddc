// pack_sparse.cpp -- sparse panels: of dense ones the blocks, or single weights, that are not zero.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "pack/pack.h"

namespace rnnp {
namespace {

PanelFormat dense_of(const PanelFormat &sparse) {
  for (const PanelFormat &f : kPanelFormats) {
    if (!is_sparse(f) && f.weight == sparse.weight && f.factor == sparse.factor && f.nr == sparse.nr) return f;
  }
  return {};
}

// The blocks of one matrix: whether units [strip * height, + height) of a gate have anything at the k of an index.
class Blocks {
 public:
  Blocks(const PanelFormat &format, const MatrixSource &s)
      : format_(format),
        s_(s),
        strips_(format.index_bytes / 2),
        height_(format.nr / strips_),
        k_(indexed_k(format)),
        quads_((s.k + k_ - 1) / k_) {}

  uint32_t strips() const { return strips_; }
  uint32_t height() const { return height_; }
  uint32_t k() const { return k_; }
  uint32_t quads() const { return quads_; }

  std::vector<uint32_t> found(uint32_t tile, uint32_t gate, uint32_t strip) const {
    std::vector<uint32_t> out;
    const uint32_t first = tile * format_.nr + strip * height_, end = std::min(s_.units, first + height_);
    for (uint32_t quad = 0; quad < quads_; ++quad) {
      bool any = false;
      for (uint32_t unit = first; unit < end; ++unit) any = any || has_any(gate, unit, quad);
      if (any) out.push_back(quad);
    }
    return out;
  }

 private:
  bool has_any(uint32_t gate, uint32_t unit, uint32_t quad) const {
    const float *row = s_.m + (size_t{s_.gate_begin + gate} * s_.units + unit) * s_.k;
    const uint32_t end = std::min(s_.k, (quad + 1) * k_);
    return std::any_of(row + size_t{quad} * k_, row + end, [](float w) { return w != 0.0f; });
  }

  const PanelFormat &format_;
  const MatrixSource &s_;
  uint32_t strips_, height_, k_, quads_;
};

template <class T>
void append(std::vector<uint8_t> *to, T value) {
  uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to->insert(to->end(), bytes, bytes + sizeof value);
}

}  // namespace

uint64_t count_entries(const PanelFormat &format, const MatrixSource &s) {
  const Blocks blocks(format, s);
  uint64_t count = 0;
  for (uint32_t column = 0; column < tile_count(s.units, format.nr) * s.gates; ++column) {
    size_t most = 0;
    for (uint32_t strip = 0; strip < blocks.strips(); ++strip)
      most = std::max(most, blocks.found(column / s.gates, column % s.gates, strip).size());
    count += most;
  }
  return count;
}

PackedMatrix pack_sparse(const PanelFormat &format, const MatrixSource &s) {
  const Blocks blocks(format, s);
  const PanelFormat dense = dense_of(format);
  PackedMatrix all = pack_matrix(dense, s), out;
  out.scales = std::move(all.scales);
  out.unit_sums = std::move(all.unit_sums);
  const size_t bytes = dtype_bits(format.weight) / 8, entry = format.nr * blocks.k() * bytes;
  std::vector<uint8_t> first, index;
  for (uint32_t column = 0; column < tile_count(s.units, format.nr) * s.gates; ++column) {
    append(&first, out.entries);
    const uint32_t tile = column / s.gates, gate = column % s.gates;
    std::vector<std::vector<uint32_t>> found;
    size_t most = 0;
    for (uint32_t strip = 0; strip < blocks.strips(); ++strip) {
      found.push_back(blocks.found(tile, gate, strip));
      most = std::max(most, found.back().size());
    }
    for (size_t e = 0; e < most; ++e, ++out.entries) {
      const size_t at = out.panels.size();
      out.panels.resize(at + entry, 0);
      for (uint32_t strip = 0; strip < blocks.strips(); ++strip) {
        const uint32_t quad = e < found[strip].size() ? found[strip][e] : blocks.quads();
        append(&index, static_cast<uint16_t>(quad));
        for (uint32_t i = 0; i < blocks.height() * blocks.k(); ++i) {
          const uint32_t n = strip * blocks.height() + i / blocks.k(), unit = tile * format.nr + n,
                         k = quad * blocks.k() + i % blocks.k();
          if (unit >= s.units || k >= s.k) continue;
          const size_t j = i % blocks.k(), place = (j / format.kr * format.nr + n) * format.kr + j % format.kr;
          std::memcpy(&out.panels[at + place * bytes], &all.panels[place_in_panels(dense, s, gate, unit, k) * bytes], bytes);
        }
      }
    }
  }
  append(&first, out.entries);
  out.index = std::move(first);
  out.index.insert(out.index.end(), index.begin(), index.end());
  return out;
}

}  // namespace rnnp
