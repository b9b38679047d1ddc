// refusal_of.h -- the one place where a refusal that was thrown becomes a value. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_REFUSAL_OF_H_
#define RNNPACK_COMPILER_ONNX_REFUSAL_OF_H_

#include <optional>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

// The Refusal that `act` throws; nothing where it throws none.
template <class Act>
std::optional<Refusal> refusal_of(const Act &act) {
  try {
    act();
  } catch (const Refusal &refusal) {
    return refusal;
  }
  return std::nullopt;
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_REFUSAL_OF_H_
