// pack.h -- from ONNX's row-major matrices to panels of a format (panel_formats.inc), on the host.
// Pure functions on host memory; what they return is whole, zero-padded. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_PACK_H_
#define RNNPACK_PACK_PACK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pack/panel_format.h"

namespace rnnp {

// Gates [gate_begin, gate_begin + gates) of M [all gates x units][k], in ONNX's gate order.
struct MatrixSource {
  const float *m;
  uint32_t units, k, gate_begin, gates;
  uint32_t group_k = 0;  // where the format has a scale for each group of k; 0: the least
  // [all gates x units][groups of k] what the numbers of a row are whole multiples of, 0: the packer finds it; nullptr: it finds
  // all.
  const float *scales = nullptr;
  // Of integer-only layers: [all gates] what a sum of bytes times weights of one would be worth in pre-activations; nullptr: 1.
  const double *sum_worth = nullptr;
};

// A matrix's parts in the blob; those that its format has not are empty.
struct PackedMatrix {
  std::vector<uint8_t> panels;
  std::vector<float> scales;       // [tiles][gates][NR], or of each group of k [tiles][groups][gates][NR]
  std::vector<int32_t> unit_sums;  // [tiles][gates][NR]
  uint32_t group_k = 0;
  std::vector<uint8_t> index = {};         // sparse: as docs/BLOB_FORMAT.md has it
  uint32_t entries = 0;                    // sparse: as many
  std::vector<uint32_t> multipliers = {};  // of integer-only layers, in the place of scales: [tiles][gates][NR]
};

PackedMatrix pack_matrix(const PanelFormat &format, const MatrixSource &source);

// One number for each gate and unit, [gates][units], to [panels][gates][NR].
std::vector<float> pack_vector(const PanelFormat &format, const float *v, uint32_t units, uint32_t gates);

// A format's name in panel_formats.inc, "unknown ID" of one that has none; the id of a name, 0 of one that is none.
std::string panel_format_name(uint32_t id);
uint32_t panel_format_id(const std::string &name);

// Which of a dense matrix's stored weights is that of gate g (of the source's), unit and k.
inline size_t place_in_panels(const PanelFormat &f, const MatrixSource &s, uint32_t g, uint32_t unit, uint32_t k) {
  return place_in_panels(f, {s.gates, s.units, s.k, s.k}, g, unit, k);
}

// What makes the panels of a row, in pack_<kind>.cpp. Scaled weights are symmetric and finite.
#define RNNPACK_PANEL_FORMAT(name, id, weight, factor, nr, kr, scales, index_bytes, pack, gemm) \
  PackedMatrix pack(const PanelFormat &format, const MatrixSource &source);
#include "pack/panel_formats.inc"
#undef RNNPACK_PANEL_FORMAT
// That of a row whose sums are at most so large, one of them being worth so much; and what the shifts, which drop bits, take away
// in the mean.
uint32_t fixed_scale(int64_t most, double worth);
double fixed_loss(uint32_t scale);
// How many entries a sparse format makes of a matrix; 0 where the matrix is all zeros.
uint64_t count_entries(const PanelFormat &format, const MatrixSource &source);

// The number of 16 bits nearest to a value, halves to the even one; NaN stays NaN. What is too small for a normal bf16 becomes 0.
uint16_t nearest_f16(float value);
uint16_t nearest_bf16(float value);

}  // namespace rnnp
#endif  // RNNPACK_PACK_PACK_H_
