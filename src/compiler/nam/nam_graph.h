// nam_graph.h -- values and operations of Neural Amp Modeler's networks, [batch, channels, steps], as they are after its
// prewarming: histories hold what an endless silence leaves in them. Every value knows what it is in silence (`steady`), and its
// tensor is the value less an `offset`. A convolution over several steps reads a tensor whose offset is the steady value: the zeros
// before the first step then stand for silence. Offsets move into biases, so a network has no more nodes for it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_NAM_NAM_GRAPH_H_
#define RNNPACK_COMPILER_NAM_NAM_GRAPH_H_

#include <set>
#include <string>
#include <vector>

#include "compiler/graph_builder/graph_builder.h"

namespace rnnp::compiler {

struct NamValue {
  std::string tensor;
  std::vector<double> steady, offset;  // of each channel
  int64_t channels() const { return static_cast<int64_t>(steady.size()); }
};

struct NamConv {
  int64_t out = 1, in = 1, taps = 1, dilation = 1, groups = 1;
  std::vector<float> weights, bias;  // [out, in / groups, taps]; the bias may be empty
};

struct NamActivation {
  std::string type;  // of NAM: "Tanh" ...
  double slope = 0.01, least = -1, most = 1, slope_below = 0.01, slope_above = 0.01;
  std::vector<double> slopes;  // of PReLU, one, or one for each channel
};

class NamGraph {
 public:
  explicit NamGraph(GraphBuilder *graph) : graph_(graph) {}
  GraphBuilder &builder() { return *graph_; }
  std::set<std::string> &notes() { return notes_; }  // for the user

  // The value as a tensor with this offset.
  NamValue with_offset(const NamValue &value, const std::vector<double> &offset);
  NamValue plain(const NamValue &value) { return with_offset(value, std::vector<double>(value.steady.size(), 0)); }
  // `from_silence`: the result's offset is its steady value, as the next convolution wants it.
  NamValue conv(const std::string &name, const NamValue &x, const NamConv &conv, bool from_silence);
  NamValue add(const std::string &name, const NamValue &a, const NamValue &b);
  NamValue multiply(const std::string &name, const NamValue &a, const NamValue &b);
  NamValue channels(const std::string &name, const NamValue &x, int64_t begin, int64_t end);
  // x * (the first half of what `conv` makes of `condition`) + the other half, where there is one.
  NamValue film(const std::string &name, const NamValue &x, const NamValue &condition, const NamConv &conv, bool shift);
  // Throws ModelError for a type that is not known.
  NamValue activation(const std::string &name, const NamValue &x, const NamActivation &activation);

 private:
  std::string constant(const std::string &name, const std::vector<double> &values);
  std::string scalar(const std::string &name, double value);
  std::string activation_tensor(const std::string &name, const std::string &x, const NamActivation &activation);
  GraphBuilder *graph_;
  std::set<std::string> notes_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_NAM_NAM_GRAPH_H_
