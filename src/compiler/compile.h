// compile.h -- the whole road on the host: ONNX model in, blob out.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_COMPILE_H_
#define RNNPACK_COMPILER_COMPILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/bind_states.h"
#include "compiler/ir/graph.h"
#include "compiler/onnx/metadata.h"
#include "compiler/onnx/model_file.h"
#include "pack/panel_format.h"

namespace rnnp::compiler {

struct CompileOptions {
  std::string target = "generic";
  std::vector<StatePair> states;
  uint32_t stream_steps = 0;  // 0, or the steps of every call: memory is planned for them
  // Types that matrices are stored as (emit/panel_choice.h); empty: as the file has them, R as the other weights.
  std::string weights = {}, recurrent_weights = {};
  bool bf16_products = false;                // x and h of bf16 matrices are rounded to bf16, too
  std::vector<std::string> keep_float = {};  // nodes whose weights stay f32
  std::string sparse = {};                   // quantize/choose_sparse.h; empty: "keep"
  Metadata metadata = {};                    // added to the file's, or in the place of it (onnx/metadata.h)
  bool onnx_metadata = true;                 // keep the file's
  bool winograd = true;                      // emit/winograd_choice.h
  bool frees_weights = false;                // the graph keeps none that the blob has as f32
  // Called before the blob is written, with its panels; may change what the graph's matrices are stored as.
  std::function<void(Graph *, const PanelFormat &)> adjust = {};
};

struct Compiled {
  Graph graph;
  std::vector<uint8_t> blob;
};

// The graph that is written to the blob.
Graph compile_graph(const OnnxModel &model, const CompileOptions &options);
// Throws ModelError with every problem; UsageError when the target or a name is unknown.
Compiled compile_model(const OnnxModel &model, const CompileOptions &options);
Compiled compile_model(const OnnxModel &model, const std::string &target);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_COMPILE_H_
