// conv_nchw_body.h -- convolution of planes: some units of some positions of a line, those in the lanes.
// Room: kernels; included once by conv_nchw_<isa>.cpp after a vec_<isa>.h. Touches only its arguments.
// Contract: kernels.h, ConvNchwArgs; the bits of a product of patches (gemm_body.h).
// Why so: a tap is a load of neighbours in x as it lies, used for all units of the block; nothing is gathered.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_CONV_NCHW_BODY_H_
#define RNNPACK_KERNELS_CONV_NCHW_BODY_H_

#include "kernels/activation_body.h"
#include "kernels/plane_lines.h"
#include "kernels/unit_sums_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

static_assert(kWidth <= kPlaneSlack, "a vector is stored that is longer than what is left");

struct PutVectors {
  static RNNPACK_INLINE void zeros(float *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i += uint32_t{kWidth}) Vec::store(to + i, Vec::set1(0.0f));
  }
  static RNNPACK_INLINE void line(float *to, const float *from, ptrdiff_t step, uint32_t count) {
    uint32_t i = 0;
    if (step == 1) {
      for (; i + uint32_t{kWidth} <= count; i += uint32_t{kWidth}) Vec::store(to + i, Vec::load(from + i));
    }
    for (; i < count; ++i) to[i] = from[step * static_cast<ptrdiff_t>(i)];
  }
};

constexpr uint32_t kMostPlaneVectors = Vec::kRegisters >= 32 ? 3 : 2;
// Of so few units a block has more vectors; 0: it has not.
constexpr uint32_t kFewPlaneUnits = Vec::kRegisters >= 32 ? 3 : 0, kFewPlaneVectors = 4;

// A vector of positions.
struct PlanePlace {
  const float *x;
  float *y;          // of unit 0
  uint32_t columns;  // that there are from it on, at most kWidth
};

// Where masks cost something, a block with parts of vectors goes by way of a buffer.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void store_planes(const ConvNchwArgs &t, uint32_t unit, const PlanePlace *places, const F (&acc)[kUnits][kVectors]) {
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    if (unit + u >= t.unit_end) return;
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) {
      float *y = places[v].y + (unit + u) * t.y_plane;
      kMasksCostNothing ? Vec::store_first(y, acc[u][v], places[v].columns) : Vec::store(y, acc[u][v]);
    }
  }
}

// A second product, of one factor, added to the sums of a block of whole vectors.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_second(const AfterSums &a, uint32_t unit, size_t column, F (&acc)[kUnits][kVectors]) {
  const float *x = a.lines + a.taps[0] + column, *weights = a.panels + size_t{unit / a.nr} * a.nr + unit % a.nr;
  F second[kUnits][kVectors];
  begin_sums(a.start != nullptr ? a.start + unit : nullptr, second);
  F factors[kVectors];
  RNNPACK_UNROLL
  for (uint32_t v = 0; v < kVectors; ++v) factors[v] = Vec::load(x + v * uint32_t{kWidth});
  add_products(factors, weights, second);
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) acc[u][v] = Vec::add(acc[u][v], second[u][v]);
  }
}

// What is added to them.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_after(const ConvNchwArgs &t, uint32_t unit, size_t column, F (&acc)[kUnits][kVectors]) {
  const AfterSums &a = *t.after;
  if (a.k != 0) add_second(a, unit, column, acc);
  if (a.add == nullptr) return;
  const float *add = a.add + unit * a.add_plane + column;
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u, add += a.add_plane) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) acc[u][v] = Vec::add(acc[u][v], Vec::load(add + v * uint32_t{kWidth}));
  }
}

// The same of any block, [unit][vector]; the vectors of a unit have so many columns.
RNNPACK_NOINLINE void add_after_parts(const ConvNchwArgs &t, uint32_t unit, uint32_t units, size_t column, uint32_t columns,
                                      float *parts) {
  const AfterSums &a = *t.after;
  for (uint32_t u = unit; u < unit + units; ++u) {
    const float *panel = a.k != 0 ? a.panels + size_t{u / a.nr} * a.k * a.nr + u % a.nr : nullptr;
    for (uint32_t i = 0; i < columns; i += uint32_t{kWidth}, parts += kWidth) {
      const uint32_t left = columns - i;
      F sums = Vec::load(parts);
      if (a.k != 0) {
        F second[1][1];
        begin_sums(a.start != nullptr ? a.start + u : nullptr, second);
        for (uint32_t k = 0; k < a.k; ++k) {
          const F x[1] = {Vec::load(a.lines + a.taps[k] + column + i)};
          add_products(x, panel + size_t{k} * a.nr, second);
        }
        sums = Vec::add(sums, second[0][0]);
      }
      if (a.add != nullptr) {
        const float *add = a.add + u * a.add_plane + column + i;
        sums = Vec::add(sums, left >= uint32_t{kWidth} ? Vec::load(add) : Vec::load_first(add, left));
      }
      Vec::store(parts, sums);
    }
  }
}

// sum = y + other.
RNNPACK_INLINE void add_last(const ConvNchwArgs &t, uint32_t unit, uint32_t units, size_t column, uint32_t columns,
                             const float *y) {
  for (uint32_t u = unit; u < unit + units; ++u) {
    const float *other = t.after->other + u * t.y_plane + column;
    float *sum = t.after->sum + u * t.y_plane + column;
    uint32_t i = 0;
    for (; i + uint32_t{kWidth} <= columns; i += uint32_t{kWidth}, y += kWidth)
      Vec::store(sum + i, Vec::add(Vec::load(other + i), Vec::load(y)));
    if (i == columns) continue;
    Vec::store_first(sum + i, Vec::add(Vec::load_first(other + i, columns - i), Vec::load(y)), columns - i);
    y += kWidth;
  }
}

// A block's sums, [unit][vector], and what is made of them; `added`: all but the activation and the last sum is done.
RNNPACK_NOINLINE void store_parts(const ConvNchwArgs &t, uint32_t unit, uint32_t units, uint32_t vectors, const PlanePlace *places,
                                  bool added, float *parts) {
  if (unit + units > t.unit_end) units = t.unit_end - unit;
  if (t.after != nullptr) {
    const size_t column = static_cast<size_t>(places[0].y - t.y);
    const uint32_t columns = (vectors - 1) * uint32_t{kWidth} + places[vectors - 1].columns;
    if (!added) add_after_parts(t, unit, units, column, columns, parts);
    const ActArgs act = {parts, parts, size_t{units} * vectors * kWidth, t.after->how};
    if (t.after->act != nullptr) t.after->act(&act);
    if (t.after->other != nullptr) add_last(t, unit, units, column, columns, parts);
  }
  for (uint32_t u = 0; u < units; ++u) {
    for (uint32_t v = 0; v < vectors; ++v, parts += kWidth)
      store_up_to(places[v].y + (unit + u) * t.y_plane, Vec::load(parts), places[v].columns);
  }
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_taps(const ConvNchwArgs &t, const float *const (&from)[kVectors], const float *start, const float *weights,
                             F (&acc)[kUnits][kVectors]) {
  begin_sums(start, acc);
  if (t.k == 0) __builtin_unreachable();
  RNNPACK_NO_UNROLL
  for (uint32_t k = 0; k < t.k; ++k, weights += t.nr) {
    F x[kVectors];
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) x[v] = Vec::load(from[v] + t.taps[k]);
    add_products(x, weights, acc);
  }
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_NOINLINE void plane_block(const ConvNchwArgs &t, uint32_t unit, const PlanePlace *places) {
  F acc[kUnits][kVectors];
  const float *from[kVectors];
  RNNPACK_UNROLL
  for (uint32_t v = 0; v < kVectors; ++v) from[v] = places[v].x;
  add_taps(t, from, t.start != nullptr ? t.start + unit : nullptr, t.panels + size_t{unit / t.nr} * t.k * t.nr + unit % t.nr, acc);
  bool added = kVectors == kFewPlaneVectors || t.after == nullptr, last = added;
  if (kVectors == 2 && !added && places[kVectors - 1].columns == uint32_t{kWidth} && t.after->k <= 1 &&
      unit + kUnits <= t.unit_end) {
    add_after<kUnits, kVectors>(t, unit, static_cast<size_t>(places[0].y - t.y), acc);
    added = true;
    last = t.after->act == nullptr && t.after->other == nullptr;
  }
  if (last && (kMasksCostNothing || t.y_columns % uint32_t{kWidth} == 0))
    return store_planes<kUnits, kVectors>(t, unit, places, acc);
  alignas(64) float parts[kUnits][kVectors][kWidth];
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) Vec::store(parts[u][v], acc[u][v]);
  }
  store_parts(t, unit, kUnits, kVectors, places, added, &parts[0][0][0]);
}

// Blocks of so many vectors: of most units, and of kPlaneUnits.
struct PlaneBlocks {
  void (*most)(const ConvNchwArgs &, uint32_t, const PlanePlace *);
  void (*least)(const ConvNchwArgs &, uint32_t, const PlanePlace *);
};

template <uint32_t kVectors>
RNNPACK_INLINE PlaneBlocks plane_blocks() {
  return {plane_block<kMostUnits, kVectors>, plane_block<kPlaneUnits, kVectors>};
}

// All units of some vectors of positions: their part of x stays in L1.
RNNPACK_INLINE void plane_units(const ConvNchwArgs &t, const PlaneBlocks &blocks, const PlanePlace *places) {
  for (uint32_t unit = t.unit_begin; unit < t.unit_end;) {
    const bool most = takes_most_units(t.unit_end - unit, t.nr - unit % t.nr);
    (most ? blocks.most : blocks.least)(t, unit, places);
    unit += most ? kMostUnits : kPlaneUnits;
  }
}

// Of few units all are in registers, and what follows their sums is made there.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void leaky_block(float slope, F (&acc)[kUnits][kVectors]) {
  const F alpha = Vec::set1(slope);
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) acc[u][v] = activate(Act::kLeakyRelu, acc[u][v], alpha, alpha);
  }
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void store_block(float *to, size_t plane, const F (&acc)[kUnits][kVectors]) {
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u, to += plane) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) Vec::store(to + v * uint32_t{kWidth}, acc[u][v]);
  }
}

// to = from + acc.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void store_block_sum(float *to, const float *from, size_t plane, const F (&acc)[kUnits][kVectors]) {
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u, to += plane, from += plane) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) {
      const uint32_t i = v * uint32_t{kWidth};
      Vec::store(to + i, Vec::add(Vec::load(from + i), acc[u][v]));
    }
  }
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void then_block(const ConvNchwArgs &t, size_t column, const F (&y)[kUnits][kVectors]) {
  const float *add = t.after->add + column, *weights = t.panels, *start = t.start;
  const size_t nr = t.nr, add_plane = t.after->add_plane, plane = t.y_plane;
  float *to = t.y + column;
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u, to += plane, add += add_plane) {
    F acc[1][kVectors];
    begin_sums(start + u, acc);
    RNNPACK_UNROLL
    for (uint32_t k = 0; k < kUnits; ++k) add_products(y[k], weights + k * nr + u, acc);
    store_block_sum(to, add, 0, acc);
  }
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_NOINLINE void layer_block(const ConvNchwArgs &t, size_t column) {
  F acc[kUnits][kVectors];
  const float *from[kVectors];
  RNNPACK_UNROLL
  for (uint32_t v = 0; v < kVectors; ++v) from[v] = t.lines + column + v * uint32_t{kWidth};
  add_taps(t, from, t.start, t.panels, acc);
  const AfterSums &a = *t.after;
  add_second(a, 0, column, acc);
  if (a.act != nullptr) leaky_block(a.how.alpha, acc);
  if (a.other != nullptr) store_block_sum(a.sum + column, a.other + column, t.y_plane, acc);
  if (!t.inner) store_block(t.y + column, t.y_plane, acc);
  if (t.then != nullptr) then_block(*t.then, column, acc);
}

constexpr uint32_t kLayerColumns = kFewPlaneVectors * uint32_t{kWidth};

// Whether layer_block makes all of it.
RNNPACK_INLINE bool is_layer(const ConvNchwArgs &t) {
  if (kFewPlaneUnits == 0 || t.after == nullptr || t.unit_end != kFewPlaneUnits) return false;
  const AfterSums &a = *t.after;
  if (a.k != 1 || a.add != nullptr || (a.act != nullptr && a.how.act != uint32_t(Act::kLeakyRelu))) return false;
  if (t.then != nullptr && (t.then->unit_end != kFewPlaneUnits || t.then->start == nullptr)) return false;
  return t.y_columns % kLayerColumns == 0;
}

// Vectors of the next block when `left` are to be done: no block of one is left over.
RNNPACK_INLINE uint32_t next_vectors(uint32_t left, bool after) {
  if (after && left >= 2) return 2;
  return left <= kMostPlaneVectors ? left : left == kMostPlaneVectors + 1 ? 2 : kMostPlaneVectors;
}

void conv_nchw_run(const ConvNchwArgs *args) {
  const ConvNchwArgs &t = *args;
  if (t.from.channels != 0) put_planes<PutVectors>(t.from, t.lines);
  if (is_layer(t)) {
    for (uint32_t i = 0; i < t.y_columns; i += kLayerColumns)
      layer_block<kFewPlaneUnits != 0 ? kFewPlaneUnits : 1, kFewPlaneVectors>(t, i);
    return;
  }
  const uint32_t per_line = (t.y_columns + uint32_t{kWidth} - 1) / uint32_t{kWidth};
  const float *x = t.lines;
  float *y = t.y;
  uint32_t column = 0;
  for (uint32_t left = t.y_lines * per_line; left != 0;) {
    const bool few =
        kFewPlaneUnits != 0 && left >= kFewPlaneVectors && t.unit_end - t.unit_begin <= kFewPlaneUnits && t.after == nullptr;
    const uint32_t count = few ? kFewPlaneVectors : next_vectors(left, t.after != nullptr);
    PlanePlace places[kFewPlaneVectors];
    for (uint32_t v = 0; v < count; ++v) {
      const uint32_t columns = t.y_columns - column;
      places[v] = {x + column, y + column, columns < uint32_t{kWidth} ? columns : uint32_t{kWidth}};
      column += uint32_t{kWidth};
      if (column >= t.y_columns) x += t.line_step, y += t.y_columns, column = 0;
    }
    if (few) {
      plane_block<kFewPlaneUnits != 0 ? kFewPlaneUnits : 1, kFewPlaneVectors>(t, t.unit_begin, places);
    } else {
      const bool most = kMostPlaneVectors > 2 && count == kMostPlaneVectors;
      plane_units(t, most ? plane_blocks<kMostPlaneVectors>() : count == 2 ? plane_blocks<2>() : plane_blocks<1>(), places);
    }
    left -= count;
  }
  if (t.then != nullptr) conv_nchw_run(t.then);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_CONV_NCHW_BODY_H_
