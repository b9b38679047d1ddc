// one_file.h -- the device library, or the part of it that a model needs, as the text of one C++ translation unit.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_ONE_FILE_H_
#define RNNPACK_COMPILER_EMIT_ONE_FILE_H_

#include <string>
#include <vector>

namespace rnnp::compiler {

// The public headers, as text that needs no other file.
std::string public_headers_text();

// All but the public headers and the functions that take no registry: with the named operators (rnnp_op_<name>), and for kernel
// groups (rnnp_kernels_<name>) the instruction sets that have kernels for their layouts; which of them, the compiler's target
// tells.
std::string library_text(const std::vector<std::string> &ops, const std::vector<std::string> &groups);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_ONE_FILE_H_
