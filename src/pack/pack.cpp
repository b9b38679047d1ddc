// pack.cpp -- Contract: pack.h. Everything here comes from the rows of panel_formats.inc.
// SPDX-License-Identifier: Apache-2.0
#include "pack/pack.h"

namespace rnnp {
namespace {

using PackFn = PackedMatrix (*)(const PanelFormat &, const MatrixSource &);

struct Row {
  const char *name;
  uint32_t id;
  PackFn pack;
};

constexpr Row kRows[] = {
#define RNNPACK_PANEL_FORMAT(name, id, weight, factor, nr, kr, scales, index_bytes, pack, gemm) {#name, id, pack},
#include "pack/panel_formats.inc"
#undef RNNPACK_PANEL_FORMAT
};

}  // namespace

PackedMatrix pack_matrix(const PanelFormat &format, const MatrixSource &source) {
  for (const Row &row : kRows) {
    if (row.id == format.id) return row.pack(format, source);
  }
  return {};
}

std::vector<float> pack_vector(const PanelFormat &format, const float *v, uint32_t units, uint32_t gates) {
  const size_t width = format.nr == 0 ? units : format.nr;
  std::vector<float> out(padded_units(format, units) * gates, 0.0f);
  for (uint32_t g = 0; g < gates; ++g) {
    for (uint32_t unit = 0; unit < units; ++unit)
      out[(unit / width * gates + g) * width + unit % width] = v[size_t{g} * units + unit];
  }
  return out;
}

std::string panel_format_name(uint32_t id) {
  for (const Row &row : kRows) {
    if (row.id == id) return row.name;
  }
  return "unknown " + std::to_string(id);
}

uint32_t panel_format_id(const std::string &name) {
  for (const Row &row : kRows) {
    if (row.name == name) return row.id;
  }
  return 0;
}

}  // namespace rnnp
