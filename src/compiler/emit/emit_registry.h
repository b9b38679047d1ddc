// emit_registry.h -- the registry of models as C text: the operators and kernels it needs and no others (rnnpack/registry.h).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_
#define RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_

#include <string>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// A session that a registry is for.
struct RegistryUse {
  rnnp_model model;
  rnnp_session_options options;
};

// Options that between them need all that any session on the model can need.
std::vector<rnnp_session_options> every_kind_of_session(const rnnp_model &model);

// Names of the C objects, rnnp_op_<name> and rnnp_kernels_<name>.
struct RegistryNames {
  std::vector<std::string> ops, groups;
};

// What these sessions need.
RegistryNames registry_names(const std::vector<RegistryUse> &uses);

// Defines `const rnnp_registry <name>_registry`, for the blob that is the array <name>.
std::string registry_text(const RegistryNames &names, const std::string &name);

// The same in C++, behind the library's own text (one_file.h), and as rnnp_default_registry.
std::string one_file_registry_text(const RegistryNames &names, const std::string &name);

// A whole C file that defines rnnp_default_registry.
std::string default_registry_text(const RegistryNames &names);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_EMIT_REGISTRY_H_
