// reference_layers.h -- the layers of blob_builder.h in double precision, straight from ONNX's text. Slow and plain: the oracle.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_REFERENCE_LAYERS_H_
#define RNNPACK_TESTS_SUPPORT_REFERENCE_LAYERS_H_

#include <vector>

#include "support/blob_builder.h"
#include "support/equations.h"

namespace rnnp_test {

struct RecurrentResult {
  std::vector<double> y;         // [T][B][D*H]
  std::vector<double> y_h, y_c;  // [B][D*H]
};

// x [T][B][I]. lengths [B] or empty. h0, c0: [B][D*H], or empty for the layer's own initial state.
RecurrentResult run_recurrent(const RecurrentLayer &layer, const std::vector<double> &x, size_t steps, size_t batch,
                              const std::vector<int32_t> &lengths = {}, const std::vector<double> &h0 = {},
                              const std::vector<double> &c0 = {});

// x [rows][I] -> [rows][O].
std::vector<double> run_dense(const DenseLayer &layer, const std::vector<double> &x);

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_REFERENCE_LAYERS_H_
