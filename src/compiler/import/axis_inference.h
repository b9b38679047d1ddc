// axis_inference.h -- which axes of the graph's inputs are time and batch.
// The first reading of a graph takes every input axis as a feature axis with an origin; where an axis reaches a recurrent node's X,
// states or lengths, its origin is marked. Axes that meet element by element are one.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_AXIS_INFERENCE_H_
#define RNNPACK_COMPILER_IMPORT_AXIS_INFERENCE_H_

#include <set>
#include <string>
#include <vector>

#include "compiler/ir/view.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

enum class AxisRole : uint8_t { kUnknown, kTime, kBatch, kFixedSize };

class Origins {
 public:
  explicit Origins(const OnnxModel &model);

  int of(size_t input, size_t axis) const { return first_[input] + static_cast<int>(axis); }
  // The size to compute with: the declared one, or a large prime that stands in for a dynamic one.
  int64_t size(int origin) const { return sizes_[static_cast<size_t>(origin)]; }
  // Of the time axis: elements that make one step of the run, where layers run along what strides leave of it; else 1.
  int64_t period(int origin) const { return role(origin) == AxisRole::kTime ? periods_[static_cast<size_t>(find(origin))] : 1; }
  bool dynamic(int origin) const { return dynamic_[static_cast<size_t>(origin)]; }

  void unite(int a, int b);
  // `why`: as what follows "because".
  void mark(const Axis &axis, AxisRole role, const char *why);
  void mark(int origin, AxisRole role, const char *why);
  // A recurrent layer's axes, for decide(): `backwards` in time too.
  void add_layer(const Axis &time, const Axis &batch, bool backwards);
  // Marks time and batch from all layers together. Of several axes that layers run along one is time: by its name, else an open
  // one, else one that a layer runs along forwards only, else the first; the others are features.
  void decide();
  // Where layers run along this axis as well as along the one that is time: that one's name. Else empty.
  std::string time_beside(int origin) const;
  // The last of an input's several axes: features, not rows.
  bool is_innermost(int origin) const;
  // What makes a call one step; nothing where the time axis has no name.
  Remedy one_step() const;
  // Which axes of which inputs are time and batch, and why, in a sentence.
  std::string decided(const OnnxModel &model) const;
  // A text without the numbers that stand in for open dimensions: their names, or ?.
  std::string named(const std::string &text) const;
  AxisRole role(int origin) const;
  bool any(AxisRole role) const;
  bool any_open(AxisRole role) const;  // an axis whose size the file leaves open, whatever others have
  // Size shared by all axes of this role: the declared one where there is one. Throws Refusal when declared sizes differ.
  int64_t common_size(AxisRole role, bool *is_dynamic) const;
  // The same with batch axes alone: those of time keep their size.
  Origins without_time(const OnnxModel &model) const;
  // The same with time axes that the file fixes left open, to see whether the graph is for any number of steps.
  Origins with_open_time() const;
  // The same as if the file fixed all open sizes at this one, but those of these roles.
  Origins with_size(int64_t size, const std::set<AxisRole> &left_open) const;
  bool conflict() const { return conflict_; }  // an axis is both time and batch

 private:
  int find(int origin) const;
  int score(int origin) const;
  void refuse_two_batches() const;
  std::string strided_name(int64_t value) const;
  const char *why_of(int chosen, const std::vector<int> &times) const;
  std::string text_of(AxisRole role, const OnnxModel &model) const;
  struct LayerAxes {
    int time;
    int64_t rate;  // of its steps to those of the axis
    std::vector<int> batch;
    bool backwards;
  };
  std::vector<LayerAxes> layers_;
  std::vector<std::string> names_;
  void set_period(int time);
  std::vector<int64_t> periods_;  // at the representative
  std::vector<int> places_;       // of an axis in its input
  std::vector<uint8_t> given_;    // its role is what the user said

  std::vector<int> first_;
  std::vector<int64_t> sizes_;
  std::vector<bool> dynamic_;
  std::vector<int> parent_;
  std::vector<AxisRole> roles_;    // at the representative
  std::vector<std::string> whys_;  // why it has that role, at the representative
  bool conflict_ = false;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_AXIS_INFERENCE_H_
