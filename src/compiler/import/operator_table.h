// operator_table.h -- what docs/OPERATORS.md lists. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_OPERATOR_TABLE_H_
#define RNNPACK_COMPILER_IMPORT_OPERATOR_TABLE_H_

#include <string>

namespace rnnp::compiler {

// The table as Markdown, and the operators that are only folded, from the importers' and the evaluator's tables.
std::string operator_table();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_OPERATOR_TABLE_H_
