// tflite_shapes.cpp -- operators of TensorFlow Lite that move numbers or choose among them. Between tensors of one grid they move
// its integers. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

using Sizes = std::vector<int64_t>;

std::string squeezed(TfCall &call, const std::string &x, const Sizes &axes) {
  return axes.empty() ? x : call.node("Squeeze", {x, call.ints_constant(axes)});
}
std::string unsqueezed(TfCall &call, const std::string &x, const Sizes &axes) {
  return axes.empty() ? x : call.node("Unsqueeze", {x, call.ints_constant(axes)});
}

// Axes of one element that go and come, where nothing else changes. False where more does.
bool only_ones_differ(const Sizes &from, const Sizes &to, Sizes *go, Sizes *come) {
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      ++i, ++j;
    } else if (j < to.size() && to[j] == 1) {
      come->push_back(static_cast<int64_t>(j++));
    } else if (i < from.size() && from[i] == 1) {
      go->push_back(static_cast<int64_t>(i++));
    } else {
      return false;
    }
  }
  return true;
}

// Batch and time are exchanged by a Reshape where the file has a batch of one.
bool exchanges_first_axes(const Sizes &from, const Sizes &to) {
  return from.size() == to.size() && from.size() >= 3 && from[0] != from[1] && from[0] == to[1] && from[1] == to[0] &&
         (from[0] == 1 || from[1] == 1) && std::equal(from.begin() + 2, from.end(), to.begin() + 2);
}

std::string reshaped(TfCall &call, const std::string &x, const Sizes &from, const Sizes &to) {
  if (from == to) return x;
  if (exchanges_first_axes(from, to)) {
    Sizes axes = {1, 0};
    for (size_t i = 2; i < from.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    return call.transposed(x, axes);
  }
  Sizes go, come;
  if (only_ones_differ(from, to, &go, &come)) return unsqueezed(call, squeezed(call, x, go), come);
  Sizes shape = to;
  for (size_t i = 0; i < shape.size() && i < from.size() && from[i] == to[i] && to[i] != 0; ++i) shape[i] = 0;  // as it is
  return call.node("Reshape", {x, call.ints_constant(shape)});
}

void note_squeezed(TfCall &call) {
  const Sizes &from = call.x(0).shape, &to = call.y().shape;
  const bool ones = !from.empty() && std::all_of(from.begin(), from.end() - 1, [](int64_t d) { return d == 1; });
  if (ones && from.size() > 1 && to.size() == 1 && to[0] == from.back() && !call.y().is_quantized() && !call.x(0).is_quantized())
    call.graph().set_squeezed(call.out(), call.in(0));
}

// Axes of one element come and go beside one that is dealt out.
void reshape_dealt(TfCall &call, TfDealt how) {
  Sizes go, come;
  if (!only_ones_differ(call.x(0).shape, call.y().shape, &go, &come))
    throw Refusal(std::string(kAmongDealt) + "axes of one element more or less; it makes " + shape_text(call.y().shape) + " of " +
                  shape_text(call.x(0).shape));
  const auto before = [&](const Sizes &axes, size_t end) {
    return static_cast<size_t>(std::count_if(axes.begin(), axes.end(), [&](int64_t a) { return static_cast<size_t>(a) < end; }));
  };
  how.axis -= before(go, how.axis);
  for (const int64_t axis : come) how.axis += static_cast<size_t>(axis) <= how.axis ? 1 : 0;
  call.graph().set_dealt(call.out(), how);
  call.give_moved(0, unsqueezed(call, squeezed(call, call.moved(0), go), come));
}

void reshape(TfCall &call) {
  if (const TfDealt *how = call.graph().dealt(call.in(0))) return reshape_dealt(call, *how);
  const Sizes &from = call.x(0).shape;
  const auto is_open = [](const Sizes &shape) { return std::count(shape.begin(), shape.end(), -1) != 0; };
  note_squeezed(call);
  if (!is_open(from) && !is_open(call.y().shape)) return call.give_moved(0, reshaped(call, call.moved(0), from, call.y().shape));
  if (!call.has(1)) throw Refusal("it has no shape, and that of its result is open");
  call.give_moved(0, call.node("Reshape", {call.moved(0), call.real(1)}));
}

void squeeze(TfCall &call) {
  if (const TfDealt *how = call.graph().dealt(call.in(0))) return reshape_dealt(call, *how);
  note_squeezed(call);
  Sizes axes;
  for (const int32_t axis : call.options().numbers<int32_t>(0)) axes.push_back(call.axis(axis, call.rank(0)));
  const bool takes_all = axes.empty();
  for (size_t i = 0; takes_all && i < call.rank(0); ++i) {
    if (call.x(0).shape[i] == 1) axes.push_back(static_cast<int64_t>(i));
  }
  call.give_moved(0, squeezed(call, call.moved(0), axes));
}

int64_t one(const Sizes &list, const char *what) {
  if (list.size() != 1) throw Refusal(std::string(what) + " has " + std::to_string(list.size()) + " numbers; accepted: one");
  return list[0];
}

void expand_dims(TfCall &call) {
  if (const TfDealt *how = call.graph().dealt(call.in(0))) return reshape_dealt(call, *how);
  const int64_t axis = call.axis(one(call.ints(1, "its axis"), "its axis"), call.rank(0) + 1);
  call.give_moved(0, unsqueezed(call, call.moved(0), {axis}));
}

void transpose(TfCall &call) {
  const Sizes axes = call.ints(1, "its permutation");
  call.give_moved(0, call.transposed(call.moved(0), axes));
}

void concatenation(TfCall &call) {
  const int64_t axis = call.axis(call.options().number<int32_t>(0, 0), call.y().shape.size());
  const int activation = call.options().number<int8_t>(1, 0);
  bool moves = activation == 0;
  for (size_t i = 0; i < call.inputs(); ++i) moves = moves && call.moves_steps(i);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < call.inputs(); ++i) inputs.push_back(moves ? call.graph().steps(call.in(i)) : call.real(i));
  if (inputs.empty()) throw Refusal("it has no operands");
  const std::string y = inputs.size() == 1 ? inputs[0] : std::string(call.open_node("Concat", inputs).with("axis", axis));
  if (moves) return call.graph().give_steps(call.out(), y);
  call.give(y, {1}, activation);
}

void split_into(TfCall &call, size_t x, int64_t axis, const Sizes &sizes) {
  if (sizes.size() != call.op().outputs.size())
    throw Refusal("it has " + std::to_string(call.op().outputs.size()) + " results for " + std::to_string(sizes.size()) + " sizes");
  std::vector<std::string> names;
  for (size_t i = 0; i < sizes.size(); ++i) names.push_back(call.graph().nodes().unused(call.title() + "_" + std::to_string(i)));
  const std::string from = call.moved(x);
  if (names.size() == 1) return call.give_moved(x, from);
  call.graph().nodes().node_to("Split", {from, call.ints_constant(sizes)}, names).with("axis", axis);
  for (size_t i = 0; i < sizes.size(); ++i) call.give_moved(x, names[i], i);
}

void split(TfCall &call) {
  const int64_t axis = call.axis(one(call.ints(0, "its axis"), "its axis"), call.rank(1));
  const int64_t count = call.options().number<int32_t>(0, 0), size = call.x(1).shape[static_cast<size_t>(axis)];
  if (count < 1 || size < 0 || size % count != 0 || static_cast<size_t>(count) != call.op().outputs.size())
    throw Refusal("it splits " + std::to_string(size) + " into " + std::to_string(count) + " equal ones");
  split_into(call, 1, axis, Sizes(static_cast<size_t>(count), size / count));
}

void split_v(TfCall &call) {
  const int64_t axis = call.axis(one(call.ints(2, "its axis"), "its axis"), call.rank(0));
  Sizes sizes = call.ints(1, "its sizes");
  const int64_t whole = call.x(0).shape[static_cast<size_t>(axis)];
  int64_t known = 0;
  for (const int64_t size : sizes) known += std::clamp<int64_t>(size, 0, 1 << 30);
  for (int64_t &size : sizes) {
    if (size == -1) size = whole - known;
    if (size < 0) throw Refusal("its sizes do not fit " + std::to_string(whole));
  }
  split_into(call, 0, axis, sizes);
}

// One axis of a slice.
struct SliceRange {
  int64_t axis, begin, end, step;
};

std::string sliced(TfCall &call, const std::string &x, const std::vector<SliceRange> &ranges) {
  if (ranges.empty()) return x;
  Sizes axes, begins, ends, steps;
  for (const SliceRange &r : ranges) {
    axes.push_back(r.axis), begins.push_back(r.begin), ends.push_back(r.end), steps.push_back(r.step);
  }
  return call.node("Slice",
                   {x, call.ints_constant(begins), call.ints_constant(ends), call.ints_constant(axes), call.ints_constant(steps)});
}

void strided_slice(TfCall &call) {
  const Sizes begin = call.ints(1, "its begin"), end = call.ints(2, "its end"), step = call.ints(3, "its strides");
  const FlatTable &options = call.options();
  const auto bit = [&](int field, size_t i) { return (options.number<int32_t>(field, 0) >> i & 1) != 0; };
  if (options.number<int32_t>(2, 0) != 0 || options.number<int32_t>(3, 0) != 0)
    throw Refusal("it has an ellipsis or new axes; accepted: none");
  if (begin.size() != end.size() || begin.size() != step.size() || begin.size() > call.rank(0))
    throw Refusal("begin, end and strides have other lengths");
  std::vector<SliceRange> ranges;
  Sizes gone;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t axis = static_cast<int64_t>(i), size = call.x(0).shape[i];
    if (bit(4, i)) {
      const int64_t at = bit(0, i) ? (step[i] > 0 ? 0 : -1) : begin[i];
      ranges.push_back({axis, at, at == -1 ? INT64_MAX : at + 1, 1});
      gone.push_back(axis);
      continue;
    }
    if (step[i] == 0) throw Refusal("it has a stride of 0");
    const int64_t first = bit(0, i) ? (step[i] > 0 ? 0 : INT64_MAX) : begin[i];
    int64_t last = bit(1, i) ? (step[i] > 0 ? INT64_MAX : INT64_MIN) : end[i];
    if (options.flag(5) && !bit(1, i)) last += first;
    const bool is_whole = step[i] == 1 && first == 0 && (last == INT64_MAX || (size >= 0 && last >= size));
    if (!is_whole) ranges.push_back({axis, first, last, step[i]});
  }
  call.give_moved(0, squeezed(call, sliced(call, call.moved(0), ranges), gone));
}

void slice(TfCall &call) {
  const Sizes begin = call.ints(1, "its begin"), size = call.ints(2, "its size");
  if (begin.size() != call.rank(0) || size.size() != begin.size())
    throw Refusal("begin and size have other lengths than its input's axes");
  std::vector<SliceRange> ranges;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || begin[i] > 1 << 30 || size[i] > 1 << 30) throw Refusal("begin or size is out of range");
    const int64_t end = size[i] < 0 ? INT64_MAX : begin[i] + size[i];
    const bool is_whole = begin[i] == 0 && (size[i] < 0 || size[i] == call.x(0).shape[i]);
    if (!is_whole) ranges.push_back({static_cast<int64_t>(i), begin[i], end, 1});
  }
  call.give_moved(0, sliced(call, call.moved(0), ranges));
}

void pack(TfCall &call) {
  const int64_t axis = call.axis(call.options().number<int32_t>(1, 0), call.y().shape.size());
  bool moves = true;
  for (size_t i = 0; i < call.inputs(); ++i) moves = moves && call.moves_steps(i);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < call.inputs(); ++i)
    inputs.push_back(unsqueezed(call, moves ? call.graph().steps(call.in(i)) : call.real(i), {axis}));
  if (inputs.empty()) throw Refusal("it has no operands");
  const std::string y = inputs.size() == 1 ? inputs[0] : std::string(call.open_node("Concat", inputs).with("axis", axis));
  if (moves) return call.graph().give_steps(call.out(), y);
  call.give(y);
}

void unpack(TfCall &call) {
  const int64_t axis = call.axis(call.options().number<int32_t>(1, 0), call.rank(0));
  if (static_cast<int64_t>(call.op().outputs.size()) != call.x(0).shape[static_cast<size_t>(axis)])
    throw Refusal("it has another number of results than its axis");
  const std::string x = call.moved(0);
  for (size_t i = 0; i < call.op().outputs.size(); ++i) {
    const std::string at = call.graph().context().constants->constant_ints(call.title() + "_index", {}, {static_cast<int64_t>(i)});
    call.give_moved(0, call.open_node("Gather", {x, at}).with("axis", axis), i);
  }
}

int64_t block_of(TfCall &call) {
  if (call.rank(0) != 3) throw Refusal("its input has shape " + shape_text(call.x(0).shape) + "; accepted: three axes");
  return one(call.ints(1, "its block"), "its block");
}

std::pair<int64_t, int64_t> ends_of(TfCall &call, const char *what) {
  const Sizes ends = call.ints(2, what);
  const auto fits = [](int64_t v) { return v >= 0 && v <= 1 << 20; };
  if (ends.size() != 2 || !std::all_of(ends.begin(), ends.end(), fits)) throw Refusal(std::string(what) + " is no pair of sizes");
  return {ends[0], ends[1]};
}

void space_to_batch(TfCall &call) {
  const int64_t block = block_of(call);
  const auto pads = ends_of(call, "its padding");
  if (block < 1 || block > 1 << 20) throw Refusal("its block is " + std::to_string(block) + "; accepted: 1 to 1048576");
  call.graph().set_dealt(call.out(), {block, 1, pads.second});
  std::string x = call.moved(0);
  if (pads.first != 0) x = call.node("Pad", {x, call.ints_constant({0, pads.first, 0, 0, 0, 0})});
  call.give_moved(0, x);
}

void batch_to_space(TfCall &call) {
  const TfDealt *how = call.graph().dealt(call.in(0));
  const auto crops = ends_of(call, "its crops");
  if (how == nullptr || how->axis != 1 || how->block != block_of(call) || crops.second < how->pad_end)
    throw Refusal("it does not undo a SPACE_TO_BATCH_ND; accepted: behind one and convolutions");
  const int64_t end = crops.second == how->pad_end ? INT64_MAX : how->pad_end - crops.second;
  std::string x = call.moved(0);
  if (crops.first != 0 || end != INT64_MAX) x = sliced(call, x, {{1, crops.first, end, 1}});
  call.give_moved(0, x);
}

// Of a grid its zero point is zero.
void pad(TfCall &call) {
  const Sizes pairs = call.ints(1, "its padding");
  if (pairs.size() != 2 * call.rank(0))
    throw Refusal("its padding has " + std::to_string(pairs.size()) + " numbers for " + std::to_string(call.rank(0)) + " axes");
  Sizes pads(pairs.size());
  for (size_t i = 0; i < call.rank(0); ++i) pads[i] = pairs[2 * i], pads[call.rank(0) + i] = pairs[2 * i + 1];
  std::vector<std::string> inputs = {call.moved(0), call.ints_constant(pads)};
  if (call.has(2)) {
    const std::vector<double> value = call.x(2).is_constant() ? reals_of(call.x(2)) : std::vector<double>();
    if (value.size() != 1) throw Refusal("it pads with what is computed; accepted: a constant");
    inputs.push_back(call.graph().number(call.moves_steps(0) ? value[0] / grid_of(call.x(0)).scale : value[0]));
  }
  BuiltNode node = call.open_node("Pad", inputs);
  if (tflite_operator_name(call.op()) == "MIRROR_PAD") {
    if (call.options().number<int8_t>(0, 0) != 0) throw Refusal("it repeats the ends (symmetric); accepted: reflect");
    node.with("mode", "reflect");
  }
  call.give_moved(0, node);
}

void gather(TfCall &call) {
  if (call.options().number<int32_t>(1, 0) != 0) throw Refusal("it has batch_dims; accepted: none");
  const int64_t axis = call.axis(call.options().number<int32_t>(0, 0), call.rank(0));
  call.give_moved(0, call.open_node("Gather", {call.moved(0), call.real(1)}).with("axis", axis));
}

// One index a result, as exporters write an index or a choice of an axis, chooses along the first axis.
void gather_nd(TfCall &call) {
  const TfTensor &at = call.x(1);
  if (!at.is_constant() || at.shape.size() != 2 || at.shape[1] != 1)
    return call.give_moved(0, call.node("GatherND", {call.moved(0), call.real(1)}));
  const std::string chosen = call.ints_constant(call.ints(1, "its indices"));
  call.give_moved(0, call.open_node("Gather", {call.moved(0), chosen}).with("axis", 0));
}

void embedding_lookup(TfCall &call) {
  call.give_moved(1, call.open_node("Gather", {call.moved(1), call.real(0)}).with("axis", 0));
}

void one_hot(TfCall &call) {
  const auto number = [&](size_t i) {
    const std::vector<double> list = call.x(i).is_constant() ? reals_of(call.x(i)) : std::vector<double>();
    if (list.size() != 1) throw Refusal("its values are computed; accepted: constants");
    return list[0];
  };
  const std::string values = call.floats_constant({2}, {number(3), number(2)}, "_values");
  const std::string depth = call.ints_constant({one(call.ints(1, "its depth"), "its depth")});
  call.give(call.open_node("OneHot", {call.real(0), depth, values}).with("axis", call.options().number<int32_t>(0, 0)));
}

void topk(TfCall &call) {
  const std::string values = call.graph().nodes().unused(call.title() + "_values"),
                    places = call.graph().nodes().unused(call.title() + "_places");
  call.graph().nodes().node_to("TopK", {call.moved(0), call.ints_constant({one(call.ints(1, "its number"), "its number")})},
                               {values, places});
  call.give_moved(0, values);
  if (call.op().outputs.size() > 1) call.give(places, {1}, 0, 1);
}

void shape(TfCall &call) {
  call.give(call.node("Shape", {call.real(0)}));
}
void fill(TfCall &call) {
  call.give(call.node("Expand", {call.real(1), call.real(0)}));
}
void zeros_like(TfCall &call) {
  call.give(call.node("Expand", {call.graph().number(0), call.node("Shape", {call.real(0)})}));
}
void tile(TfCall &call) {
  call.give_moved(0, call.node("Tile", {call.moved(0), call.ints_constant(call.ints(1, "its repeats"))}));
}
void broadcast_to(TfCall &call) {
  call.give_moved(0, call.node("Expand", {call.moved(0), call.real(1)}));
}

void reverse_v2(TfCall &call) {
  std::vector<SliceRange> ranges;
  for (const int64_t axis : call.ints(1, "its axes")) ranges.push_back({call.axis(axis, call.rank(0)), -1, INT64_MIN, -1});
  call.give_moved(0, sliced(call, call.moved(0), ranges));
}

}  // namespace

const std::vector<TfRow> kTfShapes = {
    {"BATCH_TO_SPACE_ND", batch_to_space, 0, true},
    {"BROADCAST_TO", broadcast_to, 0},
    {"CONCATENATION", concatenation, 2},
    {"EMBEDDING_LOOKUP", embedding_lookup, 0},
    {"EXPAND_DIMS", expand_dims, 0, true},
    {"FILL", fill, 0},
    {"GATHER", gather, 2},
    {"GATHER_ND", gather_nd, 0},
    {"MIRROR_PAD", pad, 1},
    {"ONE_HOT", one_hot, 1},
    {"PACK", pack, 2},
    {"PAD", pad, 0},
    {"PADV2", pad, 0},
    {"RESHAPE", reshape, 1, true},
    {"REVERSE_V2", reverse_v2, 0},
    {"SHAPE", shape, 1},
    {"SLICE", slice, 0},
    {"SPACE_TO_BATCH_ND", space_to_batch, 0},
    {"SPLIT", split, 1},
    {"SPLIT_V", split_v, 1},
    {"SQUEEZE", squeeze, 1, true},
    {"STRIDED_SLICE", strided_slice, 6},
    {"TILE", tile, 0},
    {"TOPK_V2", topk, 0},
    {"TRANSPOSE", transpose, 0},
    {"UNPACK", unpack, 2},
    {"ZEROS_LIKE", zeros_like, 0},
};

}  // namespace rnnp::compiler
