// write_block.cpp -- Contract: write_block.h. Pieces of what was there and of what is written, side by side: nothing is computed.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/write_block.h"

#include <algorithm>
#include <optional>

#include "compiler/import/concat_slices.h"

namespace rnnp::compiler {
namespace {

struct Block {
  size_t axis = 0;
  std::vector<int64_t> places;  // of the data, in the order of the updates
};

// The places along axis `axis` of a grid of tuples, or nothing where they depend on other axes of it too.
std::optional<std::vector<int64_t>> places_along(const Tensor &tuples, size_t axis, int64_t size) {
  const size_t depth = tuples.shape.size() - 1;
  int64_t behind = 1;
  for (size_t i = axis + 1; i < depth; ++i) behind *= tuples.shape[i];
  const int64_t many = tuples.shape[axis];
  std::vector<int64_t> places(static_cast<size_t>(many), -1);
  for (int64_t n = 0; n < tuples.size() / static_cast<int64_t>(depth); ++n) {
    int64_t place = static_cast<int64_t>(tuples.data[static_cast<size_t>(n) * depth + axis]);
    place += place < 0 ? size : 0;
    int64_t &known = places[static_cast<size_t>(n / behind % many)];
    if (place < 0 || place >= size || (known >= 0 && known != place)) return std::nullopt;
    known = place;
  }
  return places;
}

bool is_all(const std::vector<int64_t> &places, int64_t size) {
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] != static_cast<int64_t>(i)) return false;
  }
  return static_cast<int64_t>(places.size()) == size;
}

std::optional<Block> block_of(const Tensor &tuples, const std::vector<int64_t> &shape) {
  const size_t depth = tuples.shape.empty() ? 0 : static_cast<size_t>(tuples.shape.back());
  if (depth == 0 || tuples.is_dynamic() || depth > shape.size() || tuples.shape.size() != depth + 1 || tuples.size() == 0)
    return std::nullopt;
  std::optional<Block> block;
  for (size_t axis = 0; axis < depth; ++axis) {
    const auto places = places_along(tuples, axis, shape[axis]);
    if (!places || (block && !is_all(*places, shape[axis]))) return std::nullopt;
    if (!is_all(*places, shape[axis]) || (!block && axis + 1 == depth)) block = Block{axis, *places};
  }
  std::vector<int64_t> sorted = block->places;
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  return twice ? std::nullopt : block;
}

bool same_along(const Tensor &x, size_t axis) {
  int64_t behind = 1;
  for (size_t i = axis + 1; i < x.shape.size(); ++i) behind *= x.shape[i];
  const int64_t size = x.shape[axis];
  for (int64_t n = 0; n < x.size(); ++n) {
    const int64_t first = n - n / behind % size * behind;
    if (x.data[static_cast<size_t>(n)] != x.data[static_cast<size_t>(first)]) return false;
  }
  return true;
}

Tensor first_along(const Tensor &x, size_t axis) {
  Shape shape = x.shape;
  shape[axis] = 1;
  Tensor out(x.elem, shape);
  int64_t behind = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) behind *= shape[i];
  for (int64_t n = 0; n < out.size(); ++n)
    out.data[static_cast<size_t>(n)] = x.data[static_cast<size_t>(n / behind * behind * x.shape[axis] + n % behind)];
  return out;
}

// Input i as it lies beside `other`: a constant that is the same for all steps or rows, as many as the file has, is so for any
// number.
View beside(const OpCall &call, size_t i, const View &other, size_t axis) {
  if (!call.is_const(i) || call.sizes(i, "a constant").is_dynamic()) return call.number_view(i);
  Tensor tensor = call.constant(i, "a constant");
  std::vector<size_t> open;
  for (size_t k = 0; k < std::min(tensor.shape.size(), other.axes.size()); ++k) {
    if (k == axis || axis_is_features(other.axes[k]) || !same_along(tensor, k)) continue;
    tensor = first_along(tensor, k);
    open.push_back(k);
  }
  View view = call.b.const_view(tensor);
  for (const size_t k : open) {
    view.axes[k] = other.axes[k];
    for (Atom &atom : view.axes[k]) atom.stride = 0;
  }
  return view;
}

}  // namespace

bool write_block(OpCall &call) {
  if (!call.is_const(1) || call.attributes.text("reduction", "none") != "none") return false;
  const View there = call.number_view(0), put = call.number_view(2);
  const View &shaped = call.is_const(0) ? put : there;  // whose axes of steps and rows are known
  std::vector<int64_t> shape = view_shape(there);
  const Tensor &tuples = call.constant(1, "indices");
  const std::optional<Block> block = block_of(tuples, shape);
  if (!block || put.axes.size() != there.axes.size()) return false;
  if (!axis_is_features(there.axes[block->axis]) || !axis_is_features(put.axes[block->axis])) return false;
  const View data = beside(call, 0, shaped, block->axis), updates = beside(call, 2, shaped, block->axis);
  std::vector<int64_t> from(static_cast<size_t>(shape[block->axis]), -1);  // the updates' place, or what was there
  for (size_t i = 0; i < block->places.size(); ++i) from[static_cast<size_t>(block->places[i])] = static_cast<int64_t>(i);
  std::vector<View> parts;
  for (size_t first = 0, past = 0; first < from.size(); first = past) {
    const bool kept = from[first] < 0;
    for (past = first + 1; past < from.size() && (kept ? from[past] < 0 : from[past] == from[past - 1] + 1);) ++past;
    const int64_t place = kept ? static_cast<int64_t>(first) : from[first];
    parts.push_back(cut(call, kept ? data : updates, {block->axis, place, static_cast<int64_t>(past - first), 1}));
  }
  View out = parts.size() == 1 ? parts[0] : joined(call, parts, block->axis);
  out.whole = there.whole;
  call.give(0, out);
  return true;
}

}  // namespace rnnp::compiler
