// refusal_text.h -- how a call of the library ended; why the library makes no session, in the words of rnnp_session_explain and
// with the node's name. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_REFUSAL_TEXT_H_
#define RNNPACK_COMPILER_EMIT_REFUSAL_TEXT_H_

#include <string>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// Throws IoError with `what` was called and how it ended, unless it ended well.
void check(rnnp_status status, const std::string &what);

// "" when nothing is in the way. mem: NULL, or what the session would be made in.
std::string refusal_text(const rnnp_model &model, const rnnp_session_options &options, void *mem = nullptr, size_t bytes = 0);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_REFUSAL_TEXT_H_
