// version.h -- the library's version as people write it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_VERSION_H_
#define RNNPACK_COMPILER_EMIT_VERSION_H_

#include <string>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

inline std::string version_text() {
  const uint32_t v = RNNP_HEADER_VERSION;
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_VERSION_H_
