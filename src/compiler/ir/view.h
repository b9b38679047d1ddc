// view.h -- what an ONNX tensor is to the compiler: axes of atoms over one value of the graph.
// An axis is an ordered list of atoms: the time symbol T, the batch symbol B, or feature atoms with a size and a stride within the
// value's row. A size-1 axis is an empty list. Operators that only move data change the view and cost nothing.
// T and B carry the size that the file states, or a stand-in; an atom's origin is the graph input axis it stems from.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_VIEW_H_
#define RNNPACK_COMPILER_IR_VIEW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rnnp::compiler {

// Atom::reversed: the steps lie as they come, or all of them the other way round.
constexpr int64_t kInOrder = -1, kAllReversed = -2;

struct Atom {
  enum class Kind : uint8_t { kFeature, kTime, kBatch };
  Kind kind = Kind::kFeature;
  int64_t size = 1;    // of T and B: as in the file, or the stand-in
  int64_t stride = 0;  // elements within the row; features only
  int origin = -1;     // axis origin while T and B are still looked for; see import/axis_inference.h
  int64_t rate = 1;    // with an origin: so many of that axis are one of this
  // Of T, or an axis that may be it: elements before step 0 and behind the last step of the run, negative where steps are left
  // out. They are zeros, or nobody knows: a convolution's results for steps that the run does not have.
  int64_t lead = 0, trail = 0;
  bool zeros = false;
  // Of T: the steps are read from the last to the first, or each row's first ones are, as many as this value says.
  int64_t reversed = kInOrder;

  bool is_feature() const { return kind == Kind::kFeature; }
  // An atom that Reshape must not split: T, B, or an input axis that may turn out to be one.
  bool is_symbol() const { return kind != Kind::kFeature || origin >= 0; }
  bool is_off_steps() const { return lead != 0 || trail != 0 || reversed != kInOrder; }
  int64_t steps() const { return size - lead - trail; }
};

using Axis = std::vector<Atom>;

// Bounds of integers, as far as they are known. Those that a caller or a cast gives are taken to be of this size at most, unless
// their type holds fewer: ids, positions, counts. What is computed from them must stay where float32 holds every integer.
struct IntegerBounds {
  double least = -4096, most = 4096;
};
IntegerBounds hull(const IntegerBounds &a, const IntegerBounds &b);

// Where QuantizeLinear has a scale for each index of an axis: they, and how its tensor lay.
struct ChannelGrid {
  std::vector<double> scale, zero;
  size_t axis = 0;
  std::vector<Axis> axes;
};

struct View {
  uint32_t value = 0;
  int64_t first = 0;
  std::vector<Axis> axes;
  bool mask = false;   // ONNX calls it bool: elements are 0 or 1
  bool whole = false;  // ONNX calls it an integer: elements are integers
  IntegerBounds bounds;
  // `quantized`: it stands between QuantizeLinear and DequantizeLinear, and may have been moved there. Where `step_of` names the
  // view's own value it has come out of them, and the file has its numbers as multiples of `step`. What QuantizeLinear divided by
  // and added is the grid.
  bool quantized = false;
  uint32_t step_of = UINT32_MAX;
  float step = 0;
  double grid_scale = 1, grid_zero = 0;
  std::shared_ptr<const ChannelGrid> channel_grid;

  float known_step() const { return step_of == value ? step : 0.0f; }
};

// Products and sums of sizes and strides. While axes are looked for, stand-ins for open dimensions multiply past all sizes; the
// result then stops at a bound that no real tensor reaches.
int64_t times(int64_t a, int64_t b);
int64_t plus(int64_t a, int64_t b);

int64_t axis_size(const Axis &axis);
std::vector<int64_t> view_shape(const View &view);
std::string view_text(const View &view);
std::vector<Atom> features_of(const View &view);
// Where the elements of these atoms lie in the value's row, from `first` on, in order.
std::vector<int64_t> places(const std::vector<Atom> &atoms, int64_t first);
int64_t feature_count(const View &view);
bool axis_is_features(const Axis &axis);

// Feature axes of these sizes, row-major from stride 1.
View dense_view(uint32_t value, const std::vector<int64_t> &shape);
// True when the features in order are the value's row, whole.
bool is_dense(const View &view, uint32_t value_elems);
// True when the features are the value's row, each element once, in any order.
bool is_permutation(const View &view, uint32_t value_elems);
// Same axes with dense row-major feature strides from 0.
View densified(View view);
// Same axes, packed in the order in which their strides lie; densified where a stride says nothing.
View packed_in_order(View view);

// Views of data movement. All throw Refusal where the move cannot be expressed.
View reshape_view(const View &view, const std::vector<int64_t> &target);
View slice_axis(View view, size_t axis, int64_t first, int64_t count, int64_t step);
// Broadcast to `shape`; a new axis is stride 0.
View expand_view(const View &view, const std::vector<Axis> &target);

// Lines two axes up under broadcasting: both results have the same atoms in the same order (symbols and sizes), each with its own
// strides, 0 where it is broadcast. False when the axes do not fit.
bool align_axes(const Axis &a, const Axis &b, Axis *out_a, Axis *out_b);
// Merges neighbouring feature atoms that lie one after the other.
Axis merged(const Axis &axis);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_VIEW_H_
