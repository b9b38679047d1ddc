// time_ops.h -- the operators that look along time or keep states, and windows over features. States are those of the CPU's
// operators (src/ops), element for element, so that they can be saved here and loaded there.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_TIME_OPS_H_
#define RNNPACK_CUDA_KERNELS_TIME_OPS_H_

#include "cuda/kernels/byte_columns.h"
#include "cuda/kernels/device_activation.h"
#include "cuda/kernels/op_args.h"
#include "cuda/kernels/rows.h"

namespace rnnp {
namespace cuda {

// Steps of the chunk of a batch row that are valid.
SIMT_FN uint32_t live_steps(const ChunkArgs &c, uint64_t n) {
  if (c.lengths == nullptr) return c.steps;
  const uint64_t length = c.lengths[n] < 0 ? 0 : static_cast<uint64_t>(c.lengths[n]);
  if (length <= c.first_step) return 0;
  return length - c.first_step < c.steps ? static_cast<uint32_t>(length - c.first_step) : c.steps;
}
SIMT_FN float *state_of(const ChunkArgs &c, uint64_t n) {
  return c.state + (c.rows != nullptr ? c.rows[n] : n) * c.state_row;
}
SIMT_FN uint32_t word_of(const float *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}
SIMT_FN void put_word(float *at, uint32_t word) {
  memcpy(at, &word, sizeof word);
}

// The first step, or the last valid one of the row so far, zeros before that.
SIMT_KERNEL(256) take_time_step(const TimeStepArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.elems, e = i % a.elems;
    if (!a.last) {
      a.y[i] = a.x[i];
      continue;
    }
    const uint32_t steps = live_steps(a.chunk, n);
    float v = steps != 0 ? a.x[(uint64_t{steps - 1} * a.chunk.batch + n) * a.elems + e] : 0.0f;
    if (a.chunk.state != nullptr) {
      float *kept = state_of(a.chunk, n) + e;
      if (steps != 0) *kept = v;
      v = *kept;
    }
    if (a.chunk.last_chunk) a.y[i] = v;
  }
}

// Steps from the last to the first, each row's inside its own length; what lies behind that stays where it is.
SIMT_KERNEL(256) reverse_time(const TimeReverseArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t row = i / a.elems, e = i % a.elems, step = row / a.chunk.batch, n = row % a.chunk.batch;
    const uint32_t live = live_steps(a.chunk, n);
    const uint64_t from = step < live ? live - 1 - step : step;
    a.y[i] = a.x[(from * a.chunk.batch + n) * a.elems + e];
  }
}

// sum + lost is the sum to twice the digits, after Neumaier (src/ops/time_reduce.cpp).
SIMT_FN void add_to_sum(float by, float *sum, float *lost) {
  const float before = *sum, after = before + by;
  const float rest = *lost + (fabsf(before) >= fabsf(by) ? (before - after) + by : (by - after) + before);
  const float whole = after + rest;
  const bool finite = whole - whole == 0.0f;
  *sum = finite ? whole : after;
  *lost = finite ? rest - (whole - after) : 0.0f;
}

// Of all steps since the state began: [sums][what their rounding lost][number of steps, two words].
SIMT_KERNEL(256) reduce_time(const TimeReduceArgs a) {
  const Reduce op = Reduce(a.op);
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.elems, e = i % a.elems;
    float *state = state_of(a.chunk, n), *words = state + 2 * uint64_t{a.elems};
    float sum = a.chunk.anew ? 0.0f : state[e], lost = a.chunk.anew ? 0.0f : state[a.elems + e];
    uint64_t count = a.chunk.anew ? 0 : word_of(words) | uint64_t{word_of(words + 1)} << 32;
    const uint32_t steps = live_steps(a.chunk, n);
    SIMT_ROLLED for (uint32_t step = 0; step < steps; ++step) {
      const float v = a.x[(uint64_t{step} * a.chunk.batch + n) * a.elems + e];
      if (count == 0) {
        sum = v;
      } else if (op == Reduce::kMax) {
        sum = v > sum || v != v ? v : sum;
      } else if (op == Reduce::kMin) {
        sum = v < sum || v != v ? v : sum;
      } else if (op == Reduce::kProd) {
        sum *= v;
      } else {
        add_to_sum(v, &sum, &lost);
      }
      if (count != UINT64_MAX) ++count;
    }
    state[e] = sum;
    state[a.elems + e] = lost;
    if (a.chunk.last_chunk) a.y[i] = op == Reduce::kMean && count != 0 ? sum / static_cast<float>(count) : sum;
  }
}
// The number of steps, after all elements have read it.
SIMT_KERNEL(256) count_time(const TimeReduceArgs a) {
  SIMT_ROLLED for (uint64_t n = first_item(); n < a.count; n += item_step()) {
    float *words = state_of(a.chunk, n) + 2 * uint64_t{a.elems};
    const uint64_t before = a.chunk.anew ? 0 : word_of(words) | uint64_t{word_of(words + 1)} << 32, steps = live_steps(a.chunk, n);
    const uint64_t count = before > UINT64_MAX - steps ? UINT64_MAX : before + steps;
    put_word(words, static_cast<uint32_t>(count));
    put_word(words + 1, static_cast<uint32_t>(count >> 32));
  }
}

// A state that a network carries itself: read before the step, written after it where the row still lives.
SIMT_KERNEL(256) move_state(const StateCopyArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.elems, e = i % a.elems;
    float *state = state_of(a.chunk, n) + e;
    if (!a.writes) {
      a.rows[i] = *state;
    } else if (live_steps(a.chunk, n) != 0) {
      *state = a.rows != nullptr ? a.rows[n * a.stride + e] : 0.0f;
    }
  }
}

// --- Windows -----------------------------------------------------------------------------------------------------------------

// The row of x that a time tap of step `step` reads; nullptr: zeros (src/ops/conv_history.cpp).
SIMT_FN const float *row_of_tap(const ConvArgs &a, uint32_t now, uint64_t n, uint32_t tap) {
  const AttrConv &t = a.attr;
  const int64_t step = int64_t{now} - t.lead + int64_t{tap} * t.time_dilation;
  const bool ahead = t.lead < 0 || int64_t{t.time_taps - 1} * t.time_dilation > t.lead;
  const uint32_t live = live_steps(a.chunk, n);
  if (!ahead && step != int64_t{now} && now >= live) return nullptr;
  if (step >= 0) {
    if (step >= int64_t{a.chunk.steps} || (ahead && step >= int64_t{live})) return nullptr;
    return a.x + (static_cast<uint64_t>(step) * a.chunk.batch + n) * a.x_row;
  }
  if (a.chunk.state == nullptr) return nullptr;
  const float *ring = state_of(a.chunk, n);
  const uint32_t lead = static_cast<uint32_t>(t.lead), place = word_of(ring + lead * a.x_row), age = static_cast<uint32_t>(-step);
  const uint32_t oldest = place < lead ? place : 0;
  return ring + (oldest >= age ? oldest - age : oldest + lead - age) * a.x_row;
}

// An element of the result, and where its window is.
struct ConvPlace {
  uint64_t row;
  uint32_t channel, group, high, wide;
};
SIMT_FN ConvPlace place_of_element(const ConvArgs &a, uint64_t i) {
  const BlobWindow &w = a.attr.window;
  const uint32_t channels = a.attr.groups * a.attr.out_channels, channel = static_cast<uint32_t>(i % channels);
  const uint64_t position = i / channels;
  return {position / w.out_size[1] / w.out_size[0], channel, channel / a.attr.out_channels,
          static_cast<uint32_t>(position / w.out_size[1] % w.out_size[0]), static_cast<uint32_t>(position % w.out_size[1])};
}

// visit(element, k): those under the window that x has, k ascending.
template <class Visit>
SIMT_FN void walk_window(const ConvArgs &a, const ConvPlace &p, Visit visit) {
  const AttrConv &t = a.attr;
  const BlobWindow &w = t.window;
  uint32_t k = 0;
  SIMT_ROLLED for (uint32_t tap = 0; tap < t.time_taps; ++tap) {
    const float *x = row_of_tap(a, static_cast<uint32_t>(p.row / a.chunk.batch), p.row % a.chunk.batch, tap);
    SIMT_ROLLED for (uint32_t kh = 0; kh < w.kernel[0]; ++kh) {
      const int64_t h = int64_t{p.high} * w.stride[0] - w.pad[0] + int64_t{kh} * w.dilation[0];
      SIMT_ROLLED for (uint32_t kw = 0; kw < w.kernel[1]; ++kw, k += t.in_channels) {
        const int64_t v = int64_t{p.wide} * w.stride[1] - w.pad[1] + int64_t{kw} * w.dilation[1];
        if (x == nullptr || h < 0 || h >= w.in_size[0] || v < 0 || v >= w.in_size[1]) continue;
        const float *from =
            x + w.x_first + h * w.x_stride[0] + v * w.x_stride[1] + int64_t{p.group * t.in_channels} * w.x_stride[2];
        SIMT_ROLLED for (uint32_t c = 0; c < t.in_channels; ++c) visit(from[int64_t{c} * w.x_stride[2]], k + c);
      }
    }
  }
}

SIMT_FN void store_element(const ConvArgs &a, const ConvPlace &p, float sum) {
  const BlobWindow &w = a.attr.window;
  const uint64_t apart = a.attr.y_plane != 0 ? a.attr.y_plane : 1;
  a.y[p.row * a.y_row + w.y_first + uint64_t{p.high} * w.y_stride[0] + uint64_t{p.wide} * w.y_stride[1] + p.channel * apart] =
      activate(a.attr.act, sum);
}

// One thread for each element of the result.
SIMT_KERNEL(256) conv_elements(const ConvArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const ConvPlace p = place_of_element(a, i);
    const float *weight = a.weights + uint64_t{p.channel} * a.depth;
    float sum = a.bias[p.channel];
    walk_window(a, p, [&](float x, uint32_t k) { sum = fmaf(x, weight[k], sum); });
    store_element(a, p, sum);
  }
}

// The same of bytes: an element's window is quantized to int8 by its own largest size, unless one number does for all. Of int4 each
// group of k has a sum and a scale of its own.
SIMT_KERNEL(256) conv_elements_of_bytes(const ConvArgs a) {
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const ConvPlace p = place_of_element(a, i);
    const int8_t *weight = a.byte_weights + uint64_t{p.channel} * a.depth;
    const uint32_t unit = p.channel % a.attr.out_channels;
    float most = 0.0f, own = 0.0f;
    if (a.bytes.factor == 0.0f) walk_window(a, p, [&](float x, uint32_t) { most = larger_finite(most, x); });
    const ByteStep step = step_of_bytes(a.bytes.factor, most);
    const uint32_t group_k = a.bytes.group_k != 0 ? a.bytes.group_k : a.depth, groups = (a.depth - 1) / group_k + 1;
    const float *scale = a.bytes.scale + uint64_t{p.channel} * groups;
    int32_t sum = 0;
    uint32_t group = 0;
    float total = 0.0f;  // of the groups before
    walk_window(a, p, [&](float x, uint32_t k) {
      if (k / group_k != group) {
        total = fmaf(static_cast<float>(sum), scale[group], total);
        group = k / group_k, sum = 0;
      }
      sum += byte_of(x * step.to_byte) * weight[k];
      if (k == unit) own = x;
    });
    float v = a.bias[p.channel];
    if (a.bytes.group_k == 0) {
      v = add_bytes(a.bytes, p.channel, v, sum, step.worth, nullptr);
    } else {
      v = add_bytes(a.bytes, p.channel, v, fmaf(static_cast<float>(sum), scale[group], total), step.worth, nullptr);
    }
    if (a.bytes.diagonal != nullptr && unit < a.depth) v = add_diagonal(a.bytes, p.channel, v, own);
    store_element(a, p, v);
  }
}

// The chunk's last rows of x into the ring; one thread for each element of a row, all of which write where the next will begin.
SIMT_KERNEL(256) keep_conv_rows(const ConvArgs a) {
  const uint32_t lead = static_cast<uint32_t>(a.attr.lead);
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t n = i / a.x_row, e = i % a.x_row;
    float *ring = state_of(a.chunk, n);
    const uint32_t place = word_of(ring + lead * a.x_row), live = live_steps(a.chunk, n);
    uint32_t step = live > lead ? live - lead : 0, at = ((place < lead ? place : 0) + step % lead) % lead;
    SIMT_ROLLED for (; step < live; ++step, at = at + 1 == lead ? 0 : at + 1) ring[at * a.x_row + e] =
        a.x[(uint64_t{step} * a.chunk.batch + n) * a.x_row + e];
  }
}
SIMT_KERNEL(256) advance_conv_ring(const ConvArgs a) {
  const uint32_t lead = static_cast<uint32_t>(a.attr.lead);
  SIMT_ROLLED for (uint64_t n = first_item(); n < a.count; n += item_step()) {
    float *word = state_of(a.chunk, n) + lead * a.x_row;
    const uint32_t place = word_of(word);
    put_word(word, ((place < lead ? place : 0) + live_steps(a.chunk, n) % lead) % lead);
  }
}

// Taps of an axis inside [-before, size + after).
SIMT_FN uint32_t taps_within(const BlobWindow &w, int axis, int64_t start, int64_t before, int64_t after) {
  uint32_t count = 0;
  SIMT_ROLLED for (uint32_t k = 0; k < w.kernel[axis]; ++k) {
    const int64_t at = start + int64_t{k} * w.dilation[axis];
    count += at >= -before && at < int64_t{w.in_size[axis]} + after;
  }
  return count;
}

SIMT_KERNEL(256) pool_elements(const PoolArgs a) {
  const AttrPool &t = a.attr;
  const BlobWindow &w = t.window;
  const bool largest = Pool(t.pool) == Pool::kMax;
  SIMT_ROLLED for (uint64_t i = first_item(); i < a.count; i += item_step()) {
    const uint64_t position = i / t.channels, row = position / w.out_size[1] / w.out_size[0];
    const uint32_t channel = static_cast<uint32_t>(i % t.channels), wide = static_cast<uint32_t>(position % w.out_size[1]);
    const uint32_t high = static_cast<uint32_t>(position / w.out_size[1] % w.out_size[0]);
    const int64_t h0 = int64_t{high} * w.stride[0] - w.pad[0], v0 = int64_t{wide} * w.stride[1] - w.pad[1];
    float y = largest ? -INFINITY : 0.0f;
    SIMT_ROLLED for (uint32_t kh = 0; kh < w.kernel[0]; ++kh) {
      SIMT_ROLLED for (uint32_t kw = 0; kw < w.kernel[1]; ++kw) {
        const int64_t h = h0 + int64_t{kh} * w.dilation[0], v = v0 + int64_t{kw} * w.dilation[1];
        if (h < 0 || h >= w.in_size[0] || v < 0 || v >= w.in_size[1]) continue;
        const float x = a.x[row * a.x_row + w.x_first + h * w.x_stride[0] + v * w.x_stride[1] + int64_t{channel} * w.x_stride[2]];
        y = !largest ? y + x : x > y || x != x ? x : y;
      }
    }
    if (!largest)
      y /= static_cast<float>(taps_within(w, 0, h0, t.counted_before[0], t.counted_after[0])) *
           static_cast<float>(taps_within(w, 1, v0, t.counted_before[1], t.counted_after[1]));
    a.y[row * a.y_row + w.y_first + uint64_t{high} * w.y_stride[0] + uint64_t{wide} * w.y_stride[1] + channel] = y;
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_TIME_OPS_H_
