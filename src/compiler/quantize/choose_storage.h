// choose_storage.h -- what every matrix of a graph is stored as: what the file has, unless the user asks for something else.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_QUANTIZE_CHOOSE_STORAGE_H_
#define RNNPACK_COMPILER_QUANTIZE_CHOOSE_STORAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/panel_choice.h"
#include "compiler/ir/graph.h"

namespace rnnp::compiler {

struct StorageRequest {
  std::optional<WeightType> weights, recurrent;  // none: as the file has them; `recurrent`: as the weights
  std::vector<std::string> keep_float;           // nodes, by name
  bool rounds_lhs = false;                       // of bf16 matrices
};

// A matrix of a node: `count` of [units of all gates][k].
struct MatrixRef {
  const char *name;  // "W", "R"
  const std::vector<float> *w;
  Storage *storage;
  uint32_t k, count;
  bool recurrent;
};
// Those that can be stored otherwise than f32.
std::vector<MatrixRef> matrices_of(Node *node);
Graph with_f32_weights(Graph graph);

// What x and h of int8 matrices are multiples of, where that is known without data: 1/127 of what lies between -1 and 1.
void set_known_lhs_scales(Graph *graph);

// Sets every matrix's storage to one that has panels, and notes what the user should know of it. Throws UsageError for a node that
// there is not.
void choose_storage(Graph *graph, const StorageRequest &request);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_QUANTIZE_CHOOSE_STORAGE_H_
