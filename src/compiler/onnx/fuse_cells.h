// fuse_cells.h -- LSTM cells that an exporter wrote out in primitive operators, put back together as LSTM nodes of one step.
// A cell is known by its structure alone: c' = f * c + i * g, h' = o * tanh(c'), the four gates parts of one sum of products of x
// and h with constants, and h and c taken from graph inputs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_FUSE_CELLS_H_
#define RNNPACK_COMPILER_ONNX_FUSE_CELLS_H_

#include <memory>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// The same model with its cells as LSTM nodes and without the nodes that are no longer needed; it refers to nodes of `model`, which
// must outlive it. nullptr when there is no such cell.
std::unique_ptr<OnnxModel> fuse_cells(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_FUSE_CELLS_H_
