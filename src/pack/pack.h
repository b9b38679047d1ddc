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
};

// The panels of one matrix.
std::vector<uint8_t> pack_matrix(const PanelFormat &format, const MatrixSource &source);

// One number for each gate and unit, [gates][units], to [panels][gates][NR].
std::vector<float> pack_vector(const PanelFormat &format, const float *v, uint32_t units, uint32_t gates);

// A format's name in panel_formats.inc, "unknown ID" of one that has none; the id of a name, 0 of one that is none.
std::string panel_format_name(uint32_t id);
uint32_t panel_format_id(const std::string &name);

// What makes the panels of a row; the rows name them.
std::vector<uint8_t> pack_f32(const PanelFormat &format, const MatrixSource &source);

}  // namespace rnnp
#endif  // RNNPACK_PACK_PACK_H_
