// cut_graph.h -- a part of a model: from tensors that become inputs, to tensors that become outputs. An encoder and its decoder are
// two parts of one file. Changes the declared inputs, the outputs and the list of nodes only.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_CUT_GRAPH_H_
#define RNNPACK_COMPILER_ONNX_CUT_GRAPH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

struct Cut {
  std::map<std::string, std::string> from;  // tensor -> "1,batch,16", its sizes or their names; empty: as the file says
  std::vector<std::string> to;              // empty: the model's outputs
};

// Inputs that the part does not need are none of it. Throws UsageError.
void cut_graph(OnnxModel *model, const Cut &cut);

// Leaves out the nodes that no output needs, and the inputs that only they read: nothing says what the axes of such an input are.
// Keeps inputs of these names, and all of them where no output needs any.
void leave_out_unread(OnnxModel *model, const std::set<std::string> &kept = {});

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_CUT_GRAPH_H_
