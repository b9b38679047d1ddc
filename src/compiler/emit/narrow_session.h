// narrow_session.h -- the size of a session on a CPU of 32 bits, asked of the library here.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_NARROW_SESSION_H_
#define RNNPACK_COMPILER_EMIT_NARROW_SESSION_H_

#include <cstddef>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

// What rnnp_session_memory returns there for the same model and options. one_thread: of a library built for one thread, as
// Cortex-M's is (RNNPACK_ONE_THREAD).
size_t narrow_session_bytes(const rnnp_model &model, const rnnp_session_options &options, bool one_thread);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_NARROW_SESSION_H_
