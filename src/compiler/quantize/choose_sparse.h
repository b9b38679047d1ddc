// choose_sparse.h -- which matrices are stored as the blocks, or the single weights, that are not zero.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_QUANTIZE_CHOOSE_SPARSE_H_
#define RNNPACK_COMPILER_QUANTIZE_CHOOSE_SPARSE_H_

#include <string>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// kKeep: those whose zeros make it cheaper than dense panels by far; kBsr, kEll: those where that form is fewer bytes at all;
// kOff: none.
enum class SparseRequest { kKeep, kBsr, kEll, kOff };
// "keep", "blocks", "pairs", "off". Throws UsageError.
SparseRequest sparse_request(const std::string &name);

// Sets what the matrices of recurrent and dense layers are stored as, panels being `nr` units wide, and notes it. Of kEll,
// what is stored in full all the same has a note that says why. After choose_storage.
void choose_sparse(Graph *graph, SparseRequest request, uint32_t nr);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_QUANTIZE_CHOOSE_SPARSE_H_
