// fuse_persistent_cells.h -- cells of a step graph whose states the user wants kept: the pair of input and output says which
// operand is h, so that any LSTM, GRU or RNN cell is known, however it is written. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_FUSE_PERSISTENT_CELLS_H_
#define RNNPACK_COMPILER_REWRITES_FUSE_PERSISTENT_CELLS_H_

#include "compiler/rewrites/fuse_cells.h"

namespace rnnp::compiler {

// As fuse_cells().
std::unique_ptr<OnnxModel> fuse_persistent_cells(const OnnxModel &model, const StateNames &states);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_FUSE_PERSISTENT_CELLS_H_
