// emit_registry.h -- the registry of a model as C text: the operators and kernels it needs and no others (rnnpack/registry.h).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_
#define RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_

#include <string>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// Defines `const rnnp_registry <name>_registry`. `options` are those of the session it is for.
std::string registry_text(const rnnp_model &model, const rnnp_session_options &options, const std::string &name);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_
