// cell_body.h -- the cells: finished pre-activations of one vector of units in, new state out, all in registers.
// Room: kernels; included once per recur_<isa>.cpp. Pure; `Place` says where state is read and written.
// Contract: ONNX's equations (docs/KERNELS.md); gate order i o f c and z r h.
// Why so: sigmoid and tanh are quotients. The plain cells put them on common denominators, which leaves two divisions
// per cell, and cut sigmoid's argument to [-30, 30], so that products of denominators stay finite.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_CELL_BODY_H_
#define RNNPACK_KERNELS_CELL_BODY_H_

#include "kernels/activation_body.h"
#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// One vector V of units of one row: `unit` is the first one, `left` how many are real (0 or less: padding).
template <class V>
struct PlaceOf {
  using VF = typename V::F;
  const RecurArgs *args;
  size_t row;
  size_t unit;
  ptrdiff_t left;
  const float *peephole;  // of gate i; gates are peephole_stride floats apart; nullptr: none
  size_t peephole_stride;

  RNNPACK_INLINE size_t state(size_t index) const { return row * args->state_row_bytes + index * sizeof(float); }
  RNNPACK_INLINE VF h_prev() const {
    const float *h = offset_bytes(args->h_prev, state(unit));
    if (left >= V::kWidth) return V::load(h);
    return left > 0 ? V::load_first(h, static_cast<size_t>(left)) : V::set1(0.0f);
  }
  RNNPACK_INLINE VF load(const float *rows) const { return V::load(offset_bytes(rows, state(unit))); }
  RNNPACK_INLINE void store(float *rows, VF value) const { V::store(offset_bytes(rows, state(unit)), value); }
  RNNPACK_INLINE void store_h(VF h) const {
    store(args->h_next, h);
    if (args->y == nullptr) return;
    float *y = offset_bytes(args->y, row * args->y_row_bytes + unit * sizeof(float));
    if (left >= V::kWidth) {
      V::store(y, h);
    } else if (left > 0) {
      V::store_first(y, h, static_cast<size_t>(left));
    }
  }
};
using Place = PlaceOf<Vec>;

// One copy per file of the whole switch, for the generic cells.
RNNPACK_NOINLINE F activate_any(const BlobActivation &a, F x) {
  return activate(static_cast<Act>(a.act), x, Vec::set1(a.alpha), Vec::set1(a.beta));
}

RNNPACK_INLINE F clip(const CellParams &cell, F x) {
  if (cell.clip == 0.0f) return x;
  return clamp(x, Vec::set1(-cell.clip), Vec::set1(cell.clip));
}
RNNPACK_INLINE F clipped_act(const CellParams &cell, int index, F x) {
  return activate_any(cell.act[index], clip(cell, x));
}

// What a cell needs of the products: kGates gates, which are gates kFirst.. of kPreGates in preact, bias and W; kSplit marks a last
// gate whose input part comes apart (`nx`) from its recurrent part. Cells of one shape share the code of the products.
template <int kGatesOf, int kPreGatesOf, int kFirstOf, bool kSplitOf>
struct CellShape {
  static constexpr int kGates = kGatesOf, kPreGates = kPreGatesOf, kFirst = kFirstOf;
  static constexpr bool kSplit = kSplitOf;
};

// A fused cell takes its pre-activations straight from the accumulators when there is one row; the others read them from a buffer.
struct RnnTanhCell {
  using Shape = CellShape<1, 1, 0, false>;
  static constexpr bool kFused = true;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[1], const float *) { at.store_h(tanh<Form::kQuick>(pre[0])); }
};

struct RnnReluCell {
  using Shape = CellShape<1, 1, 0, false>;
  static constexpr bool kFused = true;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[1], const float *) {
    at.store_h(Vec::max(Vec::set1(0.0f), pre[0]));
  }
};

struct RnnGenericCell {
  using Shape = CellShape<1, 1, 0, false>;
  static constexpr bool kFused = false;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[1], const float *) {
    at.store_h(clipped_act(at.args->cell, 0, pre[0]));
  }
};

// c' = f c + i g over the denominator f i g; h = o tanh(c') over o and tanh's.
struct LstmCell {
  using Shape = CellShape<4, 4, 0, false>;
  static constexpr bool kFused = true;
  template <class V = Vec>
  static RNNPACK_INLINE void finish(const PlaceOf<V> &at, const typename V::F (&pre)[4], const float *) {
    using VF = typename V::F;
    const VF i = gate_denominator<V>(pre[0]);
    const VF f = gate_denominator<V>(pre[2]);
    const TanhPartsOf<V> g = tanh_parts<Form::kQuick, V>(pre[3]);
    const VF o = gate_denominator<V>(pre[1]);
    const VF ig = V::mul(i, g.denominator);
    const VF sum = V::fma(at.load(at.args->c), ig, V::mul(g.numerator, f));
    const VF c = V::div(sum, V::mul(ig, f));
    at.store(at.args->c, c);
    const TanhPartsOf<V> t = tanh_parts<Form::kQuick, V>(c);
    at.store_h(V::div(t.numerator, V::mul(t.denominator, o)));
  }
};

struct LstmGenericCell {
  using Shape = CellShape<4, 4, 0, false>;
  static constexpr bool kFused = false;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[4], const float *) {
    const CellParams &cell = at.args->cell;
    const F c = at.load(at.args->c);
    const F i = clipped_act(cell, 0, peep(at, 0, c, pre[0]));
    const F f = cell.input_forget ? Vec::sub(Vec::set1(1.0f), i) : clipped_act(cell, 0, peep(at, 2, c, pre[2]));
    const F g = clipped_act(cell, 1, pre[3]);
    const F next = Vec::fma(f, c, Vec::mul(i, g));
    at.store(at.args->c, next);
    const F o = clipped_act(cell, 0, peep(at, 1, next, pre[1]));
    at.store_h(Vec::mul(o, activate_any(cell.act[2], next)));
  }

 private:
  static RNNPACK_INLINE F peep(const Place &at, size_t gate, F c, F pre) {
    if (at.peephole == nullptr) return pre;
    return Vec::fma(Vec::load(at.peephole + gate * at.peephole_stride), c, pre);
  }
};

// h' = (1 - z) n + z h over the denominator z n, with 1 - z = e^-z z.
struct GruLinearCell {
  using Shape = CellShape<3, 3, 0, true>;
  static constexpr bool kFused = true;
  template <class V = Vec>
  static RNNPACK_INLINE void finish(const PlaceOf<V> &at, const typename V::F (&pre)[3], const float *nx) {
    using VF = typename V::F;
    const VF r = gate_denominator<V>(pre[1]);
    const VF z = gate_denominator<V>(pre[0]);
    const TanhPartsOf<V> n = tanh_parts<Form::kQuick, V>(V::add(V::load(nx), V::div(pre[2], r)));
    const VF keep = V::mul(at.h_prev(), n.denominator);
    const VF sum = V::fma(V::sub(z, V::set1(1.0f)), n.numerator, keep);
    at.store_h(V::div(sum, V::mul(z, n.denominator)));
  }
};

RNNPACK_INLINE F blend_state(F z, F n, F h) {
  return Vec::fma(z, h, Vec::mul(Vec::sub(Vec::set1(1.0f), z), n));
}

struct GruLinearGenericCell {
  using Shape = CellShape<3, 3, 0, true>;
  static constexpr bool kFused = false;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[3], const float *nx) {
    const CellParams &cell = at.args->cell;
    const F r = clipped_act(cell, 0, pre[1]);
    const F z = clipped_act(cell, 0, pre[0]);
    const F n = clipped_act(cell, 1, Vec::fma(r, pre[2], Vec::load(nx)));
    at.store_h(blend_state(z, n, at.h_prev()));
  }
};

struct GruGatesCell {
  using Shape = CellShape<2, 3, 0, false>;
  static constexpr bool kFused = true;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[2], const float *) {
    at.store(at.args->rh, Vec::div(at.h_prev(), gate_denominator(pre[1])));
    at.store(at.args->z, Vec::div(Vec::set1(1.0f), gate_denominator(pre[0])));
  }
};

struct GruGatesGenericCell {
  using Shape = CellShape<2, 3, 0, false>;
  static constexpr bool kFused = false;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[2], const float *) {
    const CellParams &cell = at.args->cell;
    at.store(at.args->rh, Vec::mul(at.h_prev(), clipped_act(cell, 0, pre[1])));
    at.store(at.args->z, clipped_act(cell, 0, pre[0]));
  }
};

struct GruOutputCell {
  using Shape = CellShape<1, 3, 2, false>;
  static constexpr bool kFused = true;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[1], const float *) {
    at.store_h(blend_state(at.load(at.args->z), tanh<Form::kQuick>(pre[0]), at.h_prev()));
  }
};

struct GruOutputGenericCell {
  using Shape = CellShape<1, 3, 2, false>;
  static constexpr bool kFused = false;
  static RNNPACK_INLINE void finish(const Place &at, const F (&pre)[1], const float *) {
    at.store_h(blend_state(at.load(at.args->z), clipped_act(at.args->cell, 1, pre[0]), at.h_prev()));
  }
};

// The cell of a family.
template <KernelFamily kFamily>
struct CellFor;
template <>
struct CellFor<KernelFamily::kRnnTanh> {
  using Cell = RnnTanhCell;
};
template <>
struct CellFor<KernelFamily::kRnnRelu> {
  using Cell = RnnReluCell;
};
template <>
struct CellFor<KernelFamily::kRnnGeneric> {
  using Cell = RnnGenericCell;
};
template <>
struct CellFor<KernelFamily::kLstm> {
  using Cell = LstmCell;
};
template <>
struct CellFor<KernelFamily::kLstmGeneric> {
  using Cell = LstmGenericCell;
};
template <>
struct CellFor<KernelFamily::kGruLinear> {
  using Cell = GruLinearCell;
};
template <>
struct CellFor<KernelFamily::kGruLinearGeneric> {
  using Cell = GruLinearGenericCell;
};
template <>
struct CellFor<KernelFamily::kGruGates> {
  using Cell = GruGatesCell;
};
template <>
struct CellFor<KernelFamily::kGruGatesGeneric> {
  using Cell = GruGatesGenericCell;
};
template <>
struct CellFor<KernelFamily::kGruOutput> {
  using Cell = GruOutputCell;
};
template <>
struct CellFor<KernelFamily::kGruOutputGeneric> {
  using Cell = GruOutputGenericCell;
};
template <KernelFamily kFamily>
using CellOf = typename CellFor<kFamily>::Cell;

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_CELL_BODY_H_
