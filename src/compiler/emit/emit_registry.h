// emit_registry.h -- the registry of a model as C text: the operators and kernels it needs and no others (rnnpack/registry.h).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_
#define RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_

#include <string>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// Names of the C objects, rnnp_op_<name> and rnnp_kernels_<name>.
struct RegistryNames {
  std::vector<std::string> ops, groups;
};

// What a session of these options needs.
RegistryNames registry_names(const rnnp_model &model, const rnnp_session_options &options);

// Defines `const rnnp_registry <name>_registry`.
std::string registry_text(const RegistryNames &names, const std::string &name);

// The same in C++, behind the library's own text (one_file.h), and the two functions that take no registry.
std::string one_file_registry_text(const RegistryNames &names, const std::string &name);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_
