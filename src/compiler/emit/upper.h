// upper.h -- a name as macros are written. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_UPPER_H_
#define RNNPACK_COMPILER_EMIT_UPPER_H_

#include <cctype>
#include <string>

namespace rnnp::compiler {

inline std::string upper(std::string text) {
  for (char &c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_UPPER_H_
