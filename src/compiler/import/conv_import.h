// conv_import.h -- what a convolution or pool slides over: x with its axes found, and the windows and views that follow from them.
// A convolution's row is [h][w][channels]; the view says so, and what follows reads it in place. One spatial axis may be time, with
// one element for every step of the run or several side by side. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_CONV_IMPORT_H_
#define RNNPACK_COMPILER_IMPORT_CONV_IMPORT_H_

#include "compiler/import/builder.h"
#include "compiler/import/conv_phases.h"

namespace rnnp::compiler {

// A size, bounded; `what` names it in the refusal.
uint32_t size_number(int64_t v, const char *what);

// An axis that a window slides over within the row, or the features of the batch axis, which it only repeats for.
struct Slide {
  WindowAxis window;
  std::vector<Phase> phases = {Phase{}};
  int64_t x_stride = 0, y_stride = 0;
  int from = -1;  // spatial axis; -1: none
};

struct TimeSlide {
  int axis = -1;              // spatial axis; -1: time is no axis of the window
  Phase phase;                // where it is all steps
  bool within_rows = false;   // every step holds several of its elements: one of the slides says how
  int64_t in = 1, out = 1;    // so many
  int64_t surplus = 0;        // results beyond the run's steps
  bool exact_beyond = false;  // what it slides over is known to be zeros there
};

enum class Sort : uint8_t { kConv, kTransposed, kPool };

class Sliding {
 public:
  Sliding(OpCall &call, View x, Window window, Sort sort);

  // While axes are looked for: an output of the right shape whose axes may still be time.
  View discovered(OpKind op, int64_t channels);
  // Finds the axes, copies x where they do not lie evenly, and makes the output's view.
  void place(int64_t channels);
  // x lies line by line, and so may the result of a convolution of so many channels: nothing is transposed then.
  bool can_be_nchw(int64_t in, int64_t out) const { return fits_nchw(in, out) && slides_[1].x_stride == 1; }
  void make_nchw();
  // It pays to bring x there by a copy.
  bool wants_planes(int64_t in, int64_t out) const;
  void bring_planes();
  // Depthwise convolutions read x's channels side by side; others that read an element more than once are faster so.
  bool wants_channels_together(int64_t groups, int64_t in, int64_t out) const;
  void bring_channels_together();

  const View &x() const { return x_; }
  const View &output() const { return out_; }
  const TimeSlide &time() const { return time_; }
  // Elements of one channel of an NCHW result; else 0.
  uint32_t plane() const { return planes_ ? static_cast<uint32_t>(positions_) : 0; }
  const Slide &slide(size_t i) const { return slides_[i]; }
  // Some results take zeros of the padding, or of steps before the first or after the last.
  bool reads_beyond() const;
  // The steps that a node of these two phases reads.
  const Phase &time_phase(const Phase &h, const Phase &w) const;
  BlobWindow window(const Phase &h, const Phase &w) const;
  // What the view's value is filled by.
  void push(Node node);

 private:
  bool fits_nchw(int64_t in, int64_t out) const;
  std::vector<Phase> phases_of(const WindowAxis &w) const;
  Axis discovered_axis(const WindowAxis &w, const Axis &axis) const;
  bool lies_evenly() const;
  void find_time();
  void take_steps(const WindowAxis &w, const Axis &axis);
  void take_elements(const WindowAxis &w, const Axis &axis);
  void find_slides();
  const Slide *slide_from(int spatial) const;
  void make_view();

  OpCall &call_;
  Builder &b_;
  View x_, out_;
  const Window window_;
  const Sort sort_;
  TimeSlide time_;
  Slide slides_[2];
  int64_t channels_ = 1, positions_ = 1;
  bool planes_ = false;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_CONV_IMPORT_H_
