// instrumented_ops.h -- the library's operators, each with functions of its own around its functions. An operator's functions are
// called without anything of one's own, so each gets those of its place in the list. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_INSTRUMENTED_OPS_H_
#define RNNPACK_COMPILER_CLI_INSTRUMENTED_OPS_H_

#include <array>
#include <utility>

#include "compiler/onnx/problem.h"
#include "ops/op.h"
#include "rnnpack/registry.h"

namespace rnnp::compiler {

// Around::surround<kAt>(Op *) puts its functions into a copy of the operator at kAt, originals[kAt].
template <class Around>
struct InstrumentedOps {
  static constexpr size_t kMostOps = 64;
  static inline const Op *originals[kMostOps];

  std::array<Op, kMostOps> ops;
  std::array<const Op *, kMostOps> list;
  rnnp_registry registry;

  InstrumentedOps() : registry(rnnp_default_registry) {
    if (registry.op_count > kMostOps) throw IoError("the library has more operators than can be surrounded");
    const Op *const *from = reinterpret_cast<const Op *const *>(registry.ops);
    for (size_t i = 0; i < registry.op_count; ++i) originals[i] = from[i];
    surround(std::make_index_sequence<kMostOps>());
    registry.ops = reinterpret_cast<const rnnp_op *const *>(list.data());
  }

 private:
  template <size_t... kAt>
  void surround(std::index_sequence<kAt...>) {
    (surround_one<kAt>(), ...);
  }
  template <size_t kAt>
  void surround_one() {
    if (kAt >= registry.op_count) return;
    ops[kAt] = *originals[kAt];
    Around::template surround<kAt>(&ops[kAt]);
    list[kAt] = &ops[kAt];
  }
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_INSTRUMENTED_OPS_H_
