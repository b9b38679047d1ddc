// conv_import.cpp -- Contract: conv_import.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/conv_import.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/import/steps.h"
#include "compiler/ir/winograd_cost.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostInWindow = int64_t{1} << 28;  // sizes and offsets of a window
constexpr int64_t kMostTime = int64_t{1} << 24;

Axis axis_of(int64_t size, int64_t stride = 0) {
  return size == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, size, stride, -1}};
}

int64_t extent_of(const Phase &p) {
  return plus(times(p.count - 1, p.stride), times(p.kernel - 1, p.dilation));
}

int64_t stride_of(const Axis &axis) {
  const Axis one = merged(axis);
  return one.empty() ? 0 : one.back().stride;
}

size_t feature_atoms(const Axis &axis) {
  const Axis one = merged(axis);
  return static_cast<size_t>(std::count_if(one.begin(), one.end(), [](const Atom &a) { return a.is_feature(); }));
}

bool has_steps(const View &view) {
  return std::any_of(view.axes.begin(), view.axes.end(), [](const Axis &axis) {
    return std::any_of(axis.begin(), axis.end(), [](const Atom &atom) { return atom.kind == Atom::Kind::kTime; });
  });
}

bool starts_with_steps(const Axis &axis) {
  return !axis.empty() && axis[0].kind == Atom::Kind::kTime;
}

}  // namespace

Sliding::Sliding(OpCall &call, View x, Window window, Sort sort)
    : call_(call), b_(call.b), x_(in_order(call.b, std::move(x), call.name)), window_(std::move(window)), sort_(sort) {}

uint32_t size_number(int64_t v, const char *what) {
  if (v < 0 || v > kMostInWindow)
    throw Refusal(std::string("its ") + what + " is " + std::to_string(v) + "; accepted: up to 268435456");
  return static_cast<uint32_t>(v);
}

// An axis that the file fixes and a stride shortens keeps its size: it is no time axis.
Axis Sliding::discovered_axis(const WindowAxis &w, const Axis &axis) const {
  if (!may_be_steps(b_, axis)) return axis_of(w.out);
  Atom atom = axis[0];
  const int64_t off = atom.lead + atom.trail;
  if (w.stride == 1) {
    atom.trail = w.out - atom.steps();
  } else if (!b_.origins->dynamic(atom.origin)) {
    return axis_of(w.out);
  } else if (sort_ == Sort::kTransposed) {
    if (atom.rate % w.stride != 0) return axis_of(w.out);
    atom.rate /= w.stride;
    atom.trail = w.out - times(atom.steps(), w.stride);
  } else {
    atom.rate = times(atom.rate, w.stride);
    atom.trail = floor_div(off + w.before + w.after - w.extent(), w.stride) + 1;
  }
  atom.lead = 0;
  atom.zeros = false;
  atom.size = w.out;
  return {atom};
}

View Sliding::discovered(OpKind op, int64_t channels) {
  View out = x_;
  out.axes[1] = axis_of(channels);
  for (size_t i = 0; i < window_.size(); ++i) out.axes[i + 2] = discovered_axis(window_[i], x_.axes[i + 2]);
  out = densified(out);
  out.value = b_.new_row(feature_count(out), b_.is_sequence(x_));
  b_.graph.nodes.push_back({op, call_.name, {x_.value}, {out.value}, AttrCopy{}});
  return out;
}

void Sliding::place(int64_t channels) {
  x_ = b_.as_row(x_, call_.name);
  const bool repeated = !b_.is_sequence(x_) && has_steps(x_);  // one row for all steps, which the borders part
  if (repeated || !lies_evenly()) x_ = b_.copied(x_, repeated || b_.is_sequence(x_), call_.name);
  if (!lies_evenly()) throw Refusal("its axes " + view_text(x_) + " mix steps or batch rows with features");
  find_time();
  find_slides();
  channels_ = channels;
  slides_[1].y_stride = channels;
  slides_[0].y_stride = times(channels, slides_[1].window.out);
  positions_ = times(slides_[0].window.out, slides_[1].window.out);
  make_view();
}

bool Sliding::fits_nchw(int64_t in, int64_t out) const {
  constexpr int64_t kFewChannels = 8, kLanes = 16, kFewPositions = 4 * kLanes;
  if (sort_ != Sort::kConv || time_.axis >= 0 || in < kFewChannels || out < kFewChannels) return false;
  int64_t copied = in;
  for (const Slide &slide : slides_) {
    if (slide.phases.size() != 1) return false;
    const Phase &p = slide.phases[0];
    if (p.first != 0 || p.step != 1 || p.count != slide.window.out) return false;
    copied = times(copied, plus(extent_of(p), 1));
  }
  const Slide &line = slides_[1];
  const int64_t lanes = (line.window.out + kLanes - 1) / kLanes * kLanes;
  return copied <= kMostInWindow && positions_ >= kFewPositions && line.phases[0].stride == 1 && 4 * line.window.out >= 3 * lanes;
}

bool Sliding::wants_planes(int64_t in, int64_t out) const {
  for (const Slide &slide : slides_) {
    if (slide.phases.size() != 1 || slide.from < 0) return false;
    const Phase &p = slide.phases[0];
    if (p.kernel != 3 || p.stride != 1 || p.dilation != 1) return false;
  }
  const uint32_t results[2] = {size_number(slides_[0].window.out, "output"), size_number(slides_[1].window.out, "output")};
  return fits_nchw(in, out) && winograd_pays_copies(static_cast<uint64_t>(in), static_cast<uint64_t>(out), results);
}

void Sliding::bring_planes() {
  x_ = b_.copied(x_, b_.is_sequence(x_), call_.name);
  find_slides();
}

void Sliding::make_nchw() {
  planes_ = true;
  slides_[1].y_stride = 1;
  slides_[0].y_stride = slides_[1].window.out;
  make_view();
}

bool Sliding::wants_channels_together(int64_t groups, int64_t in, int64_t out) const {
  if (groups > 1 && in == 1 && out == 1) return true;
  constexpr int64_t kManyChannels = 8;
  int64_t taps = time_.phase.steps;
  for (const WindowAxis &w : window_) taps = std::max(taps, w.kernel);
  return in >= kManyChannels && taps > 1;
}

void Sliding::bring_channels_together() {
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

bool Sliding::reads_beyond() const {
  const auto over_steps = [](const Phase &p) { return p.lead > 0 || times(p.steps - 1, p.step_dilation) > p.lead; };
  if (time_.axis >= 0 && over_steps(time_.phase)) return true;
  return std::any_of(slides_, slides_ + 2, [&](const Slide &slide) {
    return std::any_of(slide.phases.begin(), slide.phases.end(), [&](const Phase &p) {
      const int64_t last = times(p.count - 1, p.stride) + times(p.kernel - 1, p.dilation) - p.pad;
      return p.pad > 0 || last >= slide.window.size || over_steps(p);
    });
  });
}

const Phase &Sliding::time_phase(const Phase &h, const Phase &w) const {
  if (!time_.within_rows) return time_.phase;
  return slides_[0].from == time_.axis ? h : w;
}

BlobWindow Sliding::window(const Phase &h, const Phase &w) const {
  BlobWindow out{};
  const Phase *phases[2] = {&h, &w};
  int64_t y_first = 0;
  for (size_t i = 0; i < 2; ++i) {
    const Phase &p = *phases[i];
    out.in_size[i] = size_number(slides_[i].window.size, "axis");
    out.out_size[i] = size_number(p.count, "output");
    out.kernel[i] = size_number(p.kernel, "kernel");
    out.stride[i] = size_number(p.stride, "stride");
    out.dilation[i] = size_number(p.dilation, "dilation");
    if (p.pad > kMostInWindow || p.pad < -kMostInWindow)
      throw Refusal("its padding is " + std::to_string(p.pad) + "; accepted: up to 268435456");
    out.pad[i] = static_cast<int32_t>(p.pad);
    out.x_stride[i] = static_cast<int32_t>(slides_[i].x_stride);
    out.y_stride[i] = size_number(times(slides_[i].y_stride, p.step), "row");
    y_first = plus(y_first, times(p.first, slides_[i].y_stride));
  }
  if (extent_of(h) > kMostInWindow || extent_of(w) > kMostInWindow) throw Refusal("its window is larger than 268435456");
  out.x_first = size_number(x_.first, "row");
  out.x_stride[2] = static_cast<int32_t>(stride_of(x_.axes[1]));
  out.y_first = size_number(y_first, "row");
  return out;
}

void Sliding::push(Node node) {
  node.in = {x_.value};
  node.out = {out_.value};
  b_.graph.nodes.push_back(std::move(node));
}

std::vector<Phase> Sliding::phases_of(const WindowAxis &w) const {
  return sort_ == Sort::kTransposed ? transposed_phases(w) : plain_phases(w, sort_ == Sort::kConv);
}

// Every axis has one even stride at most; steps and batch rows share none with features but the first, and steps the elements that
// each of them holds.
bool Sliding::lies_evenly() const {
  if (feature_atoms(x_.axes[0]) > 1) return false;
  for (size_t i = 1; i < x_.axes.size(); ++i) {
    const Axis axis = merged(x_.axes[i]);
    const bool elements = i > 1 && axis.size() == 2 && starts_with_steps(axis) && axis[1].is_feature();
    if (axis.size() > 1 && !elements) return false;
  }
  return true;
}

void Sliding::find_time() {
  if (!axis_is_features(x_.axes[1])) throw Refusal("its channels are the time or batch axis of " + view_text(x_));
  for (size_t i = 0; i < window_.size(); ++i) {
    const Axis axis = merged(x_.axes[i + 2]);
    if (axis_is_features(axis)) continue;
    const WindowAxis &w = window_[i];
    if (axis[0].kind == Atom::Kind::kBatch) {
      if (w.kernel != 1 || w.stride != 1 || w.before || w.after) throw Refusal("it slides over the batch axis of " + view_text(x_));
      throw Refusal("its spatial axis " + std::to_string(i) + " is the batch axis; accepted: the first axis");
    }
    time_.axis = static_cast<int>(i);
    if (axis.size() > 1 || (sort_ == Sort::kTransposed && w.stride != 1)) {
      take_elements(w, axis);
    } else {
      if (w.stride != 1)
        throw Refusal("its stride along the time axis is " + std::to_string(w.stride) +
                      "; accepted: 1, or an open axis whose steps a recurrent layer runs along behind it");
      take_steps(w, axis);
    }
  }
  if (time_.axis < 0) settled(b_, x_, call_.name);
}

// Only results for the run's steps are computed; those must not need what is not known of x.
void Sliding::take_steps(const WindowAxis &w, const Axis &axis) {
  const Atom &steps = axis[0];
  Phase &p = time_.phase;
  p = step_phase(w, sort_ == Sort::kTransposed);
  p.lead += steps.lead;
  time_.surplus = w.out - steps.steps();
  const int64_t reach = times(p.steps - 1, p.step_dilation);
  if (std::abs(p.lead) > kMostTime || reach > kMostTime) throw Refusal("it reaches over more than 16777216 steps");
  if (w.out == 1 && !b_.time_dynamic && b_.time_size != 1)
    throw Refusal("it makes one step of all " + std::to_string(b_.time_size) + "; accepted: a fixed number of steps");
  const bool known = steps.zeros ? steps.trail >= 0 && steps.lead >= 0 : steps.lead == 0 && steps.trail == 0;
  time_.exact_beyond = known;
  if (known || (steps.lead >= 0 && p.lead - reach >= std::max<int64_t>(0, -steps.trail))) return;
  settled(b_, x_, call_.name);
}

void Sliding::take_elements(const WindowAxis &w, const Axis &axis) {
  const int64_t in = axis.size() > 1 ? axis[1].size : 1;
  const bool wider = sort_ == Sort::kTransposed;
  if (axis[0].is_off_steps()) settled(b_, x_, call_.name);
  if (!wider && in % w.stride != 0)
    throw Refusal("its stride is " + std::to_string(w.stride) + " along " + view_text(x_) + "; accepted: one that divides " +
                  std::to_string(in));
  time_.within_rows = true;
  time_.in = in;
  time_.out = wider ? times(in, w.stride) : in / w.stride;
  time_.surplus = w.out - times(time_.out, axis[0].size);
  if (time_.surplus != 0 && time_.out != 1)
    throw Refusal("of " + view_text(x_) + " it makes " + std::to_string(std::abs(time_.surplus)) +
                  (time_.surplus < 0 ? " fewer" : " more") + " than " + std::to_string(time_.out) +
                  " elements a step; accepted: padding that keeps them as many");
}

void Sliding::find_slides() {
  std::vector<Slide> found;
  for (const Atom &atom : merged(x_.axes[0])) {
    if (!atom.is_feature()) continue;
    WindowAxis all;
    all.size = all.out = atom.size;
    found.push_back({all, plain_phases(all, true), atom.stride, 0, -1});
  }
  for (size_t i = 0; i < window_.size(); ++i) {
    const WindowAxis &w = window_[i];
    const int64_t stride = stride_of(x_.axes[i + 2]);
    if (static_cast<int>(i) == time_.axis) {
      if (!time_.within_rows) continue;
      WindowAxis elements = w;
      elements.size = time_.in;
      elements.out = time_.out;
      found.push_back(
          {elements, phases_within_steps(w, sort_ == Sort::kTransposed, time_.in, time_.out), stride, 0, static_cast<int>(i)});
    } else if (w.size != 1 || w.out != 1 || w.kernel != 1 || w.before != 0) {
      found.push_back({w, phases_of(w), stride, 0, static_cast<int>(i)});
    }
  }
  if (found.size() > 2) throw Refusal("it slides over " + std::to_string(found.size()) + " feature axes; accepted: up to 2");
  WindowAxis none;
  none.size = none.out = 1;
  while (found.size() < 2) found.insert(found.begin(), Slide{none, {Phase{}}, 0, 0, -1});
  slides_[0] = found[0];
  slides_[1] = found[1];
}

const Slide *Sliding::slide_from(int spatial) const {
  for (const Slide &s : slides_) {
    if (s.from == spatial) return &s;
  }
  return nullptr;
}

void Sliding::make_view() {
  out_ = x_;
  out_.first = 0;
  out_.axes[0] = merged(x_.axes[0]);
  for (Atom &atom : out_.axes[0]) {
    if (!atom.is_feature()) continue;
    const bool second = slides_[1].from < 0 && slides_[1].window.size == atom.size && slides_[0].window.size == 1;
    atom.stride = slides_[second ? 1 : 0].y_stride;
  }
  out_.axes[1] = axis_of(channels_, planes_ ? positions_ : 1);
  for (size_t i = 0; i < window_.size(); ++i) {
    Axis &axis = out_.axes[i + 2];
    const Slide *slide = slide_from(static_cast<int>(i));
    const Axis elements = slide ? axis_of(slide->window.out, slide->y_stride) : Axis{};
    if (static_cast<int>(i) != time_.axis) {
      axis = elements;
      continue;
    }
    Atom steps = merged(axis)[0];
    steps.size = time_.within_rows ? steps.size + time_.surplus : window_[i].out;
    steps.lead = 0;
    steps.trail = time_.surplus;
    steps.zeros = false;
    axis = {steps};
    if (time_.within_rows) axis.insert(axis.end(), elements.begin(), elements.end());
  }
  out_.value = b_.new_row(times(positions_, channels_), b_.is_sequence(x_));
  if (time_.exact_beyond) b_.exact_beyond.insert(out_.value);
  if (time_.surplus != 0) {
    b_.off_steps[out_.value] = "node " + quote(call_.name) + " (" + call_.node.op_type() +
                               ") gives another number of steps than it takes (accepted: where Slice evens it out)";
  }
}

}  // namespace rnnp::compiler
