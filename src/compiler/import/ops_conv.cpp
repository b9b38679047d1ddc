// ops_conv.cpp -- convolutions, plain and transposed, and pools. Contract: builder.h.
// A convolution's row is [h][w][channels]; the view says so, and what follows reads it in place. One spatial axis may be time.
// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/eval/eval_window.h"
#include "compiler/import/steps.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMost = int64_t{1} << 28;  // sizes and offsets of a window
constexpr int64_t kMostTime = int64_t{1} << 24;
constexpr int64_t kMostPhases = 1024;

uint32_t number(int64_t v, const char *what) {
  if (v < 0 || v > kMost) throw Refusal(std::string("its ") + what + " is " + std::to_string(v) + "; accepted: up to 268435456");
  return static_cast<uint32_t>(v);
}

// Outputs first, first + step, ... of an axis, each from the same taps: output o reads x at o * stride + i * dilation - pad with
// tap taps[i] of the weights. A plain convolution has one phase, a transposed one as many as its stride.
struct Phase {
  int64_t first = 0, step = 1, count = 1;
  int64_t stride = 1, dilation = 1, pad = 0;
  int64_t kernel = 1;
  std::vector<int64_t> taps = {0};  // of a convolution, [kernel]; -1: no tap, zeros
};

std::vector<Phase> plain_phases(const WindowAxis &axis, bool with_taps) {
  Phase phase{0, 1, axis.out, axis.stride, axis.dilation, axis.before, axis.kernel, {}};
  for (int64_t k = 0; k < axis.kernel && with_taps; ++k) phase.taps.push_back(k);
  return {phase};
}

std::vector<Phase> transposed_phases(const WindowAxis &axis) {
  std::vector<Phase> phases;
  const int64_t count = std::min(axis.stride, axis.out);
  if (count > kMostPhases) throw Refusal("its stride is " + std::to_string(axis.stride) + "; accepted: up to 1024");
  for (int64_t r = 0; r < count; ++r) {
    Phase phase{r, axis.stride, (axis.out - r + axis.stride - 1) / axis.stride, 1, 1, 0, 1, {}};
    std::vector<int64_t> reads;
    for (int64_t k = axis.kernel; k-- > 0;) {  // x is read forwards by taps taken backwards
      const int64_t at = r + axis.before - k * axis.dilation;
      if (at % axis.stride != 0) continue;
      reads.push_back(at / axis.stride);
      phase.taps.push_back(k);
    }
    if (reads.empty()) phase.taps = {-1};
    phase.pad = reads.empty() ? phase.count : -reads[0];  // a position that no tap reaches reads nothing, not 0 times x
    if (reads.size() > 1) phase.dilation = reads[1] - reads[0];
    phase.kernel = static_cast<int64_t>(phase.taps.size());
    phases.push_back(phase);
  }
  return phases;
}

// An axis that a window slides over within the row, or the features of the batch axis, which it only repeats for.
struct Slide {
  WindowAxis window;
  std::vector<Phase> phases = {Phase{}};
  int64_t x_stride = 0, y_stride = 0;
  int from = -1;  // spatial axis; -1: none
};

struct TimeSlide {
  int axis = -1;  // spatial axis; -1: time is no axis of the window
  Phase phase;
  int64_t surplus = 0;  // results beyond the run's steps
};

enum class Sort : uint8_t { kConv, kTransposed, kPool };

// What a node slides over: x with its axes found, and the views and windows that follow from them.
class Sliding {
 public:
  Sliding(OpCall &call, View x, Window window, Sort sort)
      : call_(call), b_(call.b), x_(std::move(x)), window_(std::move(window)), sort_(sort) {}

  // While axes are looked for: an output of the right shape whose axes may still be time.
  View discovered(OpKind op, int64_t channels) {
    View out = x_;
    out.axes[1] = axis_of(channels);
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowAxis &w = window_[i];
      const Axis &axis = x_.axes[i + 2];
      out.axes[i + 2] = axis_of(w.out);
      if (!may_be_steps(b_, axis) || w.stride != 1) continue;
      Atom atom = axis[0];
      atom.trail = w.out - atom.steps();
      atom.lead = 0;
      atom.zeros = false;
      atom.size = w.out;
      out.axes[i + 2] = {atom};
    }
    out = densified(out);
    out.value = b_.new_row(feature_count(out), b_.is_sequence(x_));
    b_.graph.nodes.push_back({op, call_.name, {x_.value}, {out.value}, AttrCopy{}});
    return out;
  }

  // Finds the axes, copies x where they do not lie evenly, and makes the output's view.
  void place(int64_t channels) {
    x_ = b_.as_row(x_, call_.name);
    if (!lies_evenly()) x_ = b_.copied(x_, b_.is_sequence(x_), call_.name);
    if (!lies_evenly()) throw Refusal("its axes " + view_text(x_) + " mix steps or batch rows with features");
    find_time();
    find_slides();
    channels_ = channels;
    slides_[1].y_stride = channels;
    slides_[0].y_stride = times(channels, slides_[1].window.out);
    positions_ = times(slides_[0].window.out, slides_[1].window.out);
    make_view();
  }

  // Depthwise convolutions read x's channels side by side; others that read an element more than once are faster so.
  bool wants_channels_together(int64_t groups, int64_t in, int64_t out) const {
    if (groups > 1 && in == 1 && out == 1) return true;
    constexpr int64_t kManyChannels = 8;
    int64_t taps = time_.phase.kernel;
    for (const WindowAxis &w : window_) taps = std::max(taps, w.kernel);
    return in >= kManyChannels && taps > 1;
  }

  void bring_channels_together() {
    if (stride_of(x_.axes[1]) == 1) return;
    View last = x_;
    last.axes.push_back(last.axes[1]);
    last.axes.erase(last.axes.begin() + 1);
    last = b_.copied(last, b_.is_sequence(x_), call_.name);
    last.axes.insert(last.axes.begin() + 1, last.axes.back());
    last.axes.pop_back();
    x_ = last;
    find_slides();
    slides_[1].y_stride = channels_;
    slides_[0].y_stride = times(channels_, slides_[1].window.out);
  }

  const View &x() const { return x_; }
  const View &output() const { return out_; }
  const TimeSlide &time() const { return time_; }
  const Slide &slide(size_t i) const { return slides_[i]; }
  int64_t channel_stride() const { return stride_of(x_.axes[1]); }

  BlobWindow window(const Phase &h, const Phase &w) const {
    BlobWindow out{};
    const Phase *phases[2] = {&h, &w};
    int64_t y_first = 0;
    for (size_t i = 0; i < 2; ++i) {
      const Phase &p = *phases[i];
      out.in_size[i] = number(slides_[i].window.size, "axis");
      out.out_size[i] = number(p.count, "output");
      out.kernel[i] = number(p.kernel, "kernel");
      out.stride[i] = number(p.stride, "stride");
      out.dilation[i] = number(p.dilation, "dilation");
      if (p.pad > kMost || p.pad < -kMost) throw Refusal("its padding is " + std::to_string(p.pad) + "; accepted: up to 268435456");
      out.pad[i] = static_cast<int32_t>(p.pad);
      out.x_stride[i] = static_cast<int32_t>(slides_[i].x_stride);
      out.y_stride[i] = number(times(slides_[i].y_stride, p.step), "row");
      y_first = plus(y_first, times(p.first, slides_[i].y_stride));
    }
    if ((p_extent(h) > kMost) || (p_extent(w) > kMost)) throw Refusal("its window is larger than 268435456");
    out.x_first = number(x_.first, "row");
    out.x_stride[2] = static_cast<int32_t>(channel_stride());
    out.y_first = number(y_first, "row");
    return out;
  }

  // What the view's value is filled by.
  void push(Node node) {
    node.in = {x_.value};
    node.out = {out_.value};
    b_.graph.nodes.push_back(std::move(node));
  }

 private:
  static Axis axis_of(int64_t size, int64_t stride = 0) {
    return size == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, size, stride, -1}};
  }
  std::vector<Phase> phases_of(const WindowAxis &w) const {
    return sort_ == Sort::kTransposed ? transposed_phases(w) : plain_phases(w, sort_ == Sort::kConv);
  }
  static int64_t p_extent(const Phase &p) { return plus(times(p.count - 1, p.stride), times(p.kernel - 1, p.dilation)); }
  static int64_t stride_of(const Axis &axis) {
    const Axis one = merged(axis);
    return one.empty() ? 0 : one[0].stride;
  }
  static size_t feature_atoms(const Axis &axis) {
    const Axis one = merged(axis);
    return static_cast<size_t>(std::count_if(one.begin(), one.end(), [](const Atom &a) { return a.is_feature(); }));
  }

  // Every axis has one even stride at most; steps and batch rows share none with features but the first.
  bool lies_evenly() const {
    if (feature_atoms(x_.axes[0]) > 1) return false;
    for (size_t i = 1; i < x_.axes.size(); ++i) {
      if (merged(x_.axes[i]).size() > 1) return false;
    }
    return true;
  }

  void find_time() {
    if (!axis_is_features(x_.axes[1])) throw Refusal("its channels are the time or batch axis of " + view_text(x_));
    for (size_t i = 0; i < window_.size(); ++i) {
      const Axis axis = merged(x_.axes[i + 2]);
      if (axis_is_features(axis)) continue;
      const WindowAxis &w = window_[i];
      if (axis[0].kind == Atom::Kind::kBatch) {
        if (w.kernel != 1 || w.stride != 1 || w.before || w.after)
          throw Refusal("it slides over the batch axis of " + view_text(x_));
        throw Refusal("its spatial axis " + std::to_string(i) + " is the batch axis; accepted: the first axis");
      }
      if (w.stride != 1) throw Refusal("its stride along the time axis is " + std::to_string(w.stride) + "; accepted: 1");
      time_.axis = static_cast<int>(i);
      take_time(w, axis[0]);
    }
    for (const Axis &axis : x_.axes) {
      for (const Atom &atom : axis) {
        if (time_.axis < 0 && atom.is_off_steps()) settled(b_, x_);
      }
    }
  }

  // Only results for the run's steps are computed; those must not need what is not known of x.
  void take_time(const WindowAxis &w, const Atom &steps) {
    Phase &p = time_.phase;
    p = phases_of(w)[0];
    p.pad += steps.lead;
    time_.surplus = w.out - steps.steps();
    const int64_t reach = times(p.kernel - 1, p.dilation);
    if (std::abs(p.pad) > kMostTime || reach > kMostTime) throw Refusal("it reaches over more than 16777216 steps");
    const bool known = steps.zeros ? steps.trail >= 0 && steps.lead >= 0 : steps.lead == 0 && steps.trail == 0;
    if (known || (steps.lead >= 0 && p.pad - reach >= std::max<int64_t>(0, -steps.trail))) return;
    settled(b_, x_);
  }

  void find_slides() {
    std::vector<Slide> found;
    for (const Atom &atom : merged(x_.axes[0])) {
      if (!atom.is_feature()) continue;
      WindowAxis all;
      all.size = all.out = atom.size;
      found.push_back({all, plain_phases(all, true), atom.stride, 0, -1});
    }
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowAxis &w = window_[i];
      if (static_cast<int>(i) == time_.axis || (w.size == 1 && w.out == 1 && w.kernel == 1 && w.before == 0)) continue;
      found.push_back({w, phases_of(w), stride_of(x_.axes[i + 2]), 0, static_cast<int>(i)});
    }
    if (found.size() > 2) throw Refusal("it slides over " + std::to_string(found.size()) + " feature axes; accepted: up to 2");
    WindowAxis none;
    none.size = none.out = 1;
    while (found.size() < 2) found.insert(found.begin(), Slide{none, {Phase{}}, 0, 0, -1});
    slides_[0] = found[0];
    slides_[1] = found[1];
  }

  const Slide *slide_from(int spatial) const {
    for (const Slide &s : slides_) {
      if (s.from == spatial) return &s;
    }
    return nullptr;
  }

  void make_view() {
    out_ = x_;
    out_.first = 0;
    out_.axes[0] = merged(x_.axes[0]);
    for (Atom &atom : out_.axes[0]) {
      if (!atom.is_feature()) continue;
      const bool second = slides_[1].from < 0 && slides_[1].window.size == atom.size && slides_[0].window.size == 1;
      atom.stride = slides_[second ? 1 : 0].y_stride;
    }
    out_.axes[1] = axis_of(channels_, 1);
    for (size_t i = 0; i < window_.size(); ++i) {
      Axis &axis = out_.axes[i + 2];
      const Slide *slide = slide_from(static_cast<int>(i));
      if (static_cast<int>(i) == time_.axis) {
        axis = merged(axis);
        axis[0].size = window_[i].out;
        axis[0].lead = 0;
        axis[0].trail = time_.surplus;
        axis[0].zeros = false;
      } else {
        axis = slide ? axis_of(slide->window.out, slide->y_stride) : Axis{};
      }
    }
    out_.value = b_.new_row(times(positions_, channels_), b_.is_sequence(x_));
    if (time_.surplus != 0) {
      b_.off_steps[out_.value] = "node " + quote(call_.name) + " (" + call_.node.op_type() +
                                 ") gives another number of steps than it takes (accepted: where Slice evens it out)";
    }
  }

  OpCall &call_;
  Builder &b_;
  View x_, out_;
  const Window window_;
  const Sort sort_;
  TimeSlide time_;
  Slide slides_[2];
  int64_t channels_ = 1, positions_ = 1;
};

// --- Convolutions ------------------------------------------------------------------------------------------------------------

struct Kernel {
  const Tensor &w;
  int64_t groups, in, out;  // channels of one group
  bool transposed;
  Shape spatial;
  float x_step = 0;

  // Element of output channel o of all, input channel i of its group.
  float at(int64_t o, int64_t i, const std::vector<int64_t> &tap) const {
    int64_t place = transposed ? (o / out * in + i) * out + o % out : o * in + i;
    for (size_t axis = 0; axis < spatial.size(); ++axis) {
      if (tap[axis] < 0) return 0;
      place = place * spatial[axis] + tap[axis];
    }
    return static_cast<float>(w.data[static_cast<size_t>(place)]);
  }
};

std::vector<float> gathered(const Kernel &kernel, const Sliding &sliding, const Phase &t, const Phase &h, const Phase &w) {
  std::vector<float> out;
  std::vector<int64_t> tap(kernel.spatial.size(), 0);
  const auto set = [&](int axis, int64_t k) {
    if (axis >= 0) tap[static_cast<size_t>(axis)] = k;
  };
  for (int64_t o = 0; o < kernel.groups * kernel.out; ++o) {
    for (int64_t kt : t.taps) {
      set(sliding.time().axis, kt);
      for (int64_t kh : h.taps) {
        set(sliding.slide(0).from, kh);
        for (int64_t kw : w.taps) {
          set(sliding.slide(1).from, kw);
          for (int64_t i = 0; i < kernel.in; ++i) out.push_back(kernel.at(o, i, tap));
        }
      }
    }
  }
  return out;
}

std::vector<float> bias_of(OpCall &call, int64_t outputs) {
  std::vector<float> bias;
  if (!call.has(2)) return bias;
  const Tensor &given = call.constant(2, "B");
  if (given.size() != outputs || given.is_dynamic())
    throw Refusal("B has " + std::to_string(given.size()) + " elements; accepted: " + std::to_string(outputs));
  for (double v : given.data) bias.push_back(static_cast<float>(v));
  return bias;
}

Kernel kernel_of(OpCall &call, const View &x, bool transposed) {
  const Tensor &w = call.constant(1, "W");
  if (w.elem != Elem::kFloat || w.is_dynamic() || w.size() == 0) throw Refusal("its weights are not constant floats");
  if (w.rank() != x.axes.size() || w.rank() < 3)
    throw Refusal("W has shape " + shape_text(w.shape) + ", which does not fit " + view_text(x));
  const int64_t groups = call.attributes.integer("group", 1), channels = axis_size(x.axes[1]);
  const int64_t first = w.shape[0], second = w.shape[1];
  if (groups < 1 || (transposed ? first : channels) % groups != 0 || (!transposed && first % groups != 0))
    throw Refusal("attribute 'group' is " + std::to_string(groups) + "; accepted: divisors of the channels");
  Kernel kernel{
      w, groups, transposed ? first / groups : second, transposed ? second : first / groups, transposed, spatial_of(w.shape), 0};
  kernel.x_step = x.known_step();
  if (kernel.in * groups != channels)
    throw Refusal("W is for " + std::to_string(kernel.in * groups) + " channels, x has " + std::to_string(channels));
  return kernel;
}

void push_conv(Sliding *sliding, const std::string &name, const Kernel &kernel, const std::vector<float> &bias, const Phase &h,
               const Phase &w) {
  Conv conv;
  AttrConv &a = conv.shape;
  const Phase &t = sliding->time().phase;
  a.window = sliding->window(h, w);
  a.time_taps = static_cast<uint32_t>(t.kernel);
  a.time_dilation = number(t.dilation, "dilation");
  a.lead = static_cast<int32_t>(t.pad);
  a.groups = number(kernel.groups, "group");
  a.in_channels = number(kernel.in, "channels");
  a.out_channels = number(kernel.out, "channels");
  conv.w = gathered(kernel, *sliding, t, h, w);
  const DType type = stored_type(kernel.w);
  std::vector<float> steps;
  if (!kernel.w.steps.empty()) {
    const Tensor step_of = steps_tensor(kernel.w);
    steps = gathered({step_of, kernel.groups, kernel.in, kernel.out, kernel.transposed, kernel.spatial, 0}, *sliding, t, h, w);
  }
  if (!conv.w.empty()) conv.storage = storage_of_file(type, conv.w, steps, conv.depth());
  conv.storage.factor_scale = kernel.x_step;
  conv.bias = bias;
  sliding->push({OpKind::kConv, name, {}, {}, std::move(conv)});
}

void convolve(OpCall &call, bool transposed) {
  const View x = call.any_view(0);
  if (call.b.graph.values[x.value].dtype != DType::kF32) throw Refusal("input 0 is an integer tensor; accepted: float");
  const Kernel kernel = kernel_of(call, x, transposed);
  const Shape spatial = spatial_of(view_shape(x));
  const Window window = transposed ? conv_transpose_window(call.attributes, spatial, kernel.spatial)
                                   : conv_window(call.attributes, spatial, kernel.spatial);
  for (const WindowAxis &axis : window) {
    if (axis.out < 1) throw Refusal("its output is empty");
  }
  const int64_t outputs = kernel.groups * kernel.out;
  const std::vector<float> bias = bias_of(call, outputs);
  Sliding sliding(call, x, window, transposed ? Sort::kTransposed : Sort::kConv);
  if (call.b.discovering) {
    call.give(0, sliding.discovered(OpKind::kConv, outputs));
    return;
  }
  sliding.place(outputs);
  if (sliding.slide(0).phases.size() * sliding.slide(1).phases.size() > kMostPhases)
    throw Refusal("its strides make more than 1024 phases");
  if (sliding.wants_channels_together(kernel.groups, kernel.in, kernel.out)) sliding.bring_channels_together();
  for (const Phase &h : sliding.slide(0).phases) {
    for (const Phase &w : sliding.slide(1).phases) push_conv(&sliding, call.name, kernel, bias, h, w);
  }
  call.give(0, sliding.output());
}

void conv(OpCall &call) {
  convolve(call, false);
}
void conv_transpose(OpCall &call) {
  convolve(call, true);
}

// --- Pools -------------------------------------------------------------------------------------------------------------------

void pool_over(OpCall &call, const Window &window, Pool pool, bool count_padding) {
  const View x = call.real_view(0);
  const int64_t channels = axis_size(x.axes[1]);
  Sliding sliding(call, x, window, Sort::kPool);
  if (call.b.discovering) {
    call.give(0, sliding.discovered(OpKind::kPool, channels));
    return;
  }
  for (size_t i = 0; i < window.size(); ++i) {
    const WindowAxis &w = window[i];
    if (!axis_is_features(x.axes[i + 2]) && (w.kernel != 1 || w.stride != 1 || w.before || w.after))
      throw Refusal("it pools over the time or batch axis of " + view_text(x) + "; accepted: feature axes");
  }
  sliding.place(channels);
  AttrPool attr{};
  attr.window = sliding.window(sliding.slide(0).phases[0], sliding.slide(1).phases[0]);
  attr.pool = static_cast<uint32_t>(pool);
  attr.channels = number(channels, "channels");
  for (size_t i = 0; i < 2 && count_padding; ++i) {
    attr.counted_before[i] = number(sliding.slide(i).window.before, "padding");
    attr.counted_after[i] = number(sliding.slide(i).window.after, "padding");
  }
  sliding.push({OpKind::kPool, call.name, {}, {}, attr});
  call.give(0, sliding.output());
}

void average_pool(OpCall &call) {
  const Window window = pool_window(call.attributes, spatial_of(view_shape(call.real_view(0))));
  pool_over(call, window, Pool::kAverage, call.attributes.integer("count_include_pad", 0) != 0);
}

void max_pool(OpCall &call) {
  if (call.wants(1)) throw Refusal("its output 1 (the indices) is not supported");
  pool_over(call, pool_window(call.attributes, spatial_of(view_shape(call.real_view(0)))), Pool::kMax, false);
}

// A reduction over all axes but the first two; over time as well.
void global_pool(OpCall &call, Reduce op) {
  const View x = call.real_view(0);
  spatial_of(view_shape(x));
  std::vector<bool> over(x.axes.size(), true);
  over[0] = over[1] = false;
  call.give(0, call.b.reduced(x, over, op, true, call.name));
}

void global_average_pool(OpCall &call) {
  global_pool(call, Reduce::kMean);
}
void global_max_pool(OpCall &call) {
  global_pool(call, Reduce::kMax);
}

// --- BatchNormalization ------------------------------------------------------------------------------------------------------

// A number per channel, as a constant that broadcasts over x.
View per_channel(OpCall &call, const View &x, const std::vector<double> &numbers) {
  Tensor tensor(Elem::kFloat, Shape(x.axes.size() - 1, 1));
  tensor.shape[0] = static_cast<int64_t>(numbers.size());
  tensor.data = numbers;
  return call.b.const_view(tensor);
}

// Inference: a factor and a summand per channel, which a convolution before it takes in.
void batch_normalization(OpCall &call) {
  if (call.attributes.integer("training_mode", 0) != 0) throw Refusal("training_mode is set; accepted: inference");
  if (call.attributes.integer("spatial", 1) == 0) throw Refusal("attribute 'spatial' is 0; accepted: 1");
  if (call.wants(1)) throw Refusal("its outputs for training are not supported");
  const View x = call.pointwise_view(0);
  if (x.axes.size() < 2) throw Refusal("its input has rank " + std::to_string(x.axes.size()) + "; accepted: 2 and more");
  const char *kNames[] = {"scale", "B", "mean", "var"};
  const int64_t channels = axis_size(x.axes[1]);
  const Tensor *in[4];
  for (size_t i = 0; i < 4; ++i) {
    in[i] = &call.constant(i + 1, kNames[i]);
    if (in[i]->size() != channels || in[i]->is_dynamic())
      throw Refusal(std::string(kNames[i]) + " has " + std::to_string(in[i]->size()) +
                    " elements; accepted: " + std::to_string(channels));
  }
  const double epsilon = call.attributes.real("epsilon", 1e-5);
  std::vector<double> factor, summand;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    factor.push_back(in[0]->data[c] / std::sqrt(in[3]->data[c] + epsilon));
    summand.push_back(in[1]->data[c] - in[2]->data[c] * factor.back());
  }
  const View scaled = call.b.binary(Binary::kMul, x, per_channel(call, x, factor), call.name);
  call.give(0, call.b.binary(Binary::kAdd, scaled, per_channel(call, x, summand), call.name));
}

constexpr const char *kConvLimits =
    "constant weights; over up to two feature axes and the time axis, along which the stride is 1; any groups, dilations and "
    "padding";
constexpr const char *kPoolLimits = "up to two feature axes";

}  // namespace

const std::vector<ImportRow> kImportConv = {
    {"Conv", conv, kConvLimits},
    {"ConvTranspose", conv_transpose, kConvLimits},
    {"AveragePool", average_pool, kPoolLimits},
    {"MaxPool", max_pool, "up to two feature axes; without the indices"},
    {"GlobalAveragePool", global_average_pool, "feature axes and time"},
    {"GlobalMaxPool", global_max_pool, "feature axes and time"},
    {"BatchNormalization", batch_normalization, "inference; goes into a convolution or dense layer before it"},
};

}  // namespace rnnp::compiler
