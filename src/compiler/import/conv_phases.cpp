// conv_phases.cpp -- Contract: conv_phases.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/conv_phases.h"

#include <algorithm>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

std::vector<Phase> plain_phases(const WindowAxis &axis, bool with_taps) {
  Phase phase;
  phase.count = axis.out;
  phase.stride = axis.stride;
  phase.dilation = axis.dilation;
  phase.pad = axis.before;
  phase.kernel = axis.kernel;
  phase.taps.clear();
  for (int64_t k = 0; k < axis.kernel && with_taps; ++k) phase.taps.push_back(k);
  return {phase};
}

std::vector<Phase> transposed_phases(const WindowAxis &axis) {
  std::vector<Phase> phases;
  const int64_t count = std::min(axis.stride, axis.out);
  if (count > kMostPhases) throw Refusal("its stride is " + std::to_string(axis.stride) + "; accepted: up to 1024");
  for (int64_t r = 0; r < count; ++r) {
    Phase phase;
    phase.first = r;
    phase.step = axis.stride;
    phase.count = (axis.out - r + axis.stride - 1) / axis.stride;
    phase.taps.clear();
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

Phase step_phase(const WindowAxis &axis, bool transposed) {
  const Phase along = (transposed ? transposed_phases(axis) : plain_phases(axis, true))[0];
  Phase phase;
  phase.steps = along.kernel;
  phase.step_dilation = along.dilation;
  phase.lead = along.pad;
  phase.taps = along.taps;
  return phase;
}

namespace {

struct Read {
  int64_t at, tap;  // an element, counted from the first of its output's own step
};

std::vector<Read> reads_of(const WindowAxis &axis, bool transposed, int64_t output) {
  std::vector<Read> reads;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t at =
        transposed ? output + axis.before - k * axis.dilation : output * axis.stride + k * axis.dilation - axis.before;
    if (!transposed)
      reads.push_back({at, k});
    else if (at % axis.stride == 0)
      reads.push_back({at / axis.stride, k});
  }
  return reads;
}

}  // namespace

std::vector<Phase> phases_within_steps(const WindowAxis &axis, bool transposed, int64_t in, int64_t out) {
  constexpr int64_t kMostTaps = int64_t{1} << 20;
  if (out > kMostPhases) throw Refusal("it gives " + std::to_string(out) + " elements a step; accepted: up to 1024");
  std::vector<Phase> phases;
  for (int64_t q = 0; q < out; ++q) {
    const std::vector<Read> reads = reads_of(axis, transposed, q);
    Phase phase;
    phase.first = q;
    if (reads.empty()) {
      phase.pad = in;
      phase.taps = {-1};
      phases.push_back(phase);
      continue;
    }
    const auto by_place = [](const Read &a, const Read &b) { return a.at < b.at; };
    const auto ends = std::minmax_element(reads.begin(), reads.end(), by_place);
    const int64_t first = floor_div(ends.first->at, in), last = floor_div(ends.second->at, in);
    const int64_t low = first == last ? ends.first->at - first * in : 0;
    phase.kernel = first == last ? ends.second->at - ends.first->at + 1 : in;
    phase.pad = -low;
    phase.steps = last - first + 1;
    phase.lead = -first;
    if (phase.kernel > kMostTaps / phase.steps) throw Refusal("it reaches over too many steps");
    phase.taps.assign(static_cast<size_t>(phase.steps * phase.kernel), -1);
    for (const Read &read : reads) {
      const int64_t step = floor_div(read.at, in);
      phase.taps[static_cast<size_t>((step - first) * phase.kernel + read.at - step * in - low)] = read.tap;
    }
    phases.push_back(phase);
  }
  return phases;
}

}  // namespace rnnp::compiler
