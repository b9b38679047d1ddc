// verify.h -- `rnnpack verify`: the library's results against an f64 evaluation of the ONNX graph, on the user's inputs or on
// random ones, in one call and (for causal models) in pieces, which must give the same bits. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_VERIFY_VERIFY_H_
#define RNNPACK_COMPILER_VERIFY_VERIFY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/options/listener.h"
#include "compiler/options/model_options.h"

namespace rnnp::compiler {

// What its command line says.
struct VerifyRequest {
  std::string model, blob;
  std::vector<std::string> inputs;
  std::string prune;
  int64_t steps = 0, batch = 0;
  uint32_t seed = 1;
  double deviation = 1;
  std::optional<double> tolerance, accuracy_min;
  ModelOptions graph;
};

// Says what it compares and finds, in lines; false: the blob is not verified.
bool verify(const VerifyRequest &request, const Listener &listener);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_VERIFY_VERIFY_H_
