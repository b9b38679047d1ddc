// fuse_cells.h -- LSTM cells that an exporter wrote out in primitive operators, put back together as LSTM nodes of one step.
// A cell is known by its structure alone: c' = f * c + i * g, h' = o * tanh(c'), the four gates parts of one sum of products of x
// and h with constants, and h and c taken from graph inputs. Which operand is h the graph must tell: it lies in one tensor with c,
// or is the input of a state whose output h' is, or alone has the declared shape of an output that h' is. Else the cell stays as it
// is. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_FUSE_CELLS_H_
#define RNNPACK_COMPILER_REWRITES_FUSE_CELLS_H_

#include <map>
#include <memory>
#include <string>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// Inputs that the user wants kept from step to step, and the output that gives each its next value.
using StateNames = std::map<std::string, std::string>;

// The same model with its cells as LSTM nodes and without the nodes that are no longer needed; it refers to nodes of `model`, which
// must outlive it. nullptr when there is no such cell.
std::unique_ptr<OnnxModel> fuse_cells(const OnnxModel &model, const StateNames &states);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_FUSE_CELLS_H_
