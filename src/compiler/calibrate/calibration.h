// calibration.h -- data that a network is made for, what its layers see of it, and the scales of x that follow.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CALIBRATE_CALIBRATION_H_
#define RNNPACK_COMPILER_CALIBRATE_CALIBRATION_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/quantize/choose_storage.h"
#include "compiler/quantize/rounding.h"
#include "compiler/run/captured_nodes.h"
#include "compiler/verify/random_inputs.h"
#include "pack/panel_format.h"

namespace rnnp::compiler {

// The inputs of a model from x.npy, NAME=x.npy, x.npz, or x.wav: its samples as rows of the first input, one after the other.
Arrays calibration_inputs(const std::vector<std::string> &files, const Runner &runner);

// The graph with f32 weights, run on the data: what every node with matrices is given and makes. Recurrent layers are seen at every
// step, whatever the graph wants of them.
class Reference {
 public:
  Reference(Graph graph, const PanelFormat &panels, const std::vector<std::string> &files);
  // Inputs drawn as `types` has them, where there is no data; of an input that it does not name: normal numbers.
  Reference(Graph graph, const PanelFormat &panels, int64_t steps, uint32_t seed, const ElementTypes &types);

  const Arrays &inputs() const { return inputs_; }
  const SeenRun &seen() const { return seen_; }
  const std::vector<uint8_t> &blob() const { return blob_; }
  size_t blob_bytes() const { return plain_bytes_; }

  // The same graph as it was given, seen in the same way, with other storage.
  std::vector<uint8_t> watched_blob(Graph graph, const PanelFormat &panels) const;
  static std::vector<bool> watched_nodes(const Graph &graph);

 private:
  void run(Runner *runner);

  Graph graph_;
  Arrays inputs_;
  SeenRun seen_;
  std::vector<uint8_t> blob_;
  size_t plain_bytes_ = 0;
};

// A layer of every step, with all its results: nodes, values and names stay where they are.
Graph with_every_step(Graph graph);

// Rows that a matrix of a node is multiplied by: x of W (of a convolution: whole rows, of which windows are taken), and h of R as
// its direction walks.
void visit_rows(const Node &node, const SeenNode &seen, const MatrixRef &matrix, uint32_t direction,
                const std::function<void(const float *row, size_t k)> &visit);

// The scale with which numbers err least when they are rounded to bytes and cut.
float best_step(const std::vector<float> &numbers);

// The best step of rows of so many numbers; 0 where rows, the quiet ones like the loud, lose so much less by a scale of their own
// that it is worth finding.
float fixed_step(const std::vector<float> &numbers, size_t width);

// Scales of x of every matrix of integers that has none, from what its layer sees.
void set_lhs_scales(Graph *graph, const SeenRun &seen);
// Rounds every matrix that is to hold integers and has none yet.
void round_graph(Graph *graph, Rounding how, const SeenRun *seen);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CALIBRATE_CALIBRATION_H_
