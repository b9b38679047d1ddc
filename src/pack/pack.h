// pack.h -- from ONNX's row-major matrices to the panels of layout.h. Pure functions on host memory.
// M is [gates * units][k] in ONNX gate order; out must hold the elements that layout.h states and is written whole (zero-padded).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_PACK_H_
#define RNNPACK_PACK_PACK_H_

#include <cstdint>
#include <vector>

#include "pack/layout.h"

namespace rnnp {

// Panels [tiles][k][gates][nr] of the gates [gate_begin, gate_begin + gates) of M.
std::vector<float> pack_matrix(const float *m, uint32_t units, uint32_t k, uint32_t gate_begin, uint32_t gates, uint32_t nr);

// R of a GRU with linear_before_reset 0: panels of z and r, then panels of h.
std::vector<float> pack_gru_recurrent(const float *m, uint32_t units, uint32_t nr);

// Vectors [gates][units] to [tiles][gates][nr].
std::vector<float> pack_vector(const float *v, uint32_t units, uint32_t gates, uint32_t nr);

}  // namespace rnnp
#endif  // RNNPACK_PACK_PACK_H_
