// recur_q15.cpp -- the cells of integer-only layers: from pre-activations as integers to h and c, which lie in their rows as
// floats. Room: kernels. Contract: kernels.h, RecurArgs; docs/KERNELS.md, "Integer-only layers"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fixed_point.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

template <class T>
const T *at_byte(const T *p, size_t bytes) {
  return static_cast<const T *>(static_cast<const void *>(reinterpret_cast<const char *>(p) + bytes));
}
template <class T>
T *at_byte(T *p, size_t bytes) {
  return static_cast<T *>(static_cast<void *>(reinterpret_cast<char *>(p) + bytes));
}

// A unit of a row, by where its words lie; pre-activations are nr apart from gate to gate.
struct FixedUnit {
  const RecurArgs *args;
  const int32_t *preact;
  size_t nr, state, r_bias, y;  // bytes, of the last three

  RNNPACK_INLINE int32_t pre(size_t gate) const { return preact[gate * nr]; }
  RNNPACK_INLINE int32_t old_h() const { return fixed_of_float(load_word(at_byte(args->h_prev, state)), kFractionBits); }
  RNNPACK_INLINE void store_h(int32_t h) const {
    const uint32_t word = float_of_fixed(h, kFractionBits);
    store_word(at_byte(args->h_next, state), word);
    if (args->y != nullptr) store_word(at_byte(args->y, y), word);
  }
};

// z h + (1 - z) n; z from 1 to 65535.
RNNPACK_INLINE int32_t moved(int32_t z, int32_t n, int32_t h) {
  return blended((z * h) >> 1, ((65536 - z) * n) >> 1);
}

struct RnnFixed {
  static constexpr size_t kGates = 1;
  static RNNPACK_INLINE void step(const FixedUnit &u) { u.store_h(fixed_tanh(u.pre(0))); }
};

// Gates i o f c.
struct LstmFixed {
  static constexpr size_t kGates = 4;
  static RNNPACK_INLINE void step(const FixedUnit &u) {
    const uint32_t bits = u.args->integer.c_bits;
    float *c = at_byte(u.args->c, u.state);
    const int32_t old = fixed_of_float(load_word(c), bits);
    const int32_t kept = (fixed_sigmoid(u.pre(2)) * old) >> 1;
    const int32_t added = (fixed_sigmoid(u.pre(0)) * fixed_tanh(u.pre(3))) >> (16 - bits);
    const int32_t next = blended(kept, added);
    const int32_t h = (fixed_sigmoid(u.pre(1)) * fixed_tanh((next * 16) >> (bits - 8)) + (1 << 15)) >> 16;
    store_word(c, float_of_fixed(next, bits));
    u.store_h(h);
  }
};

struct GruLinearFixed {
  static constexpr size_t kGates = 3;
  static RNNPACK_INLINE void step(const FixedUnit &u) {
    const int32_t recurrent = clamped(*at_byte(u.args->r_bias_q, u.r_bias), 65536);
    const int32_t part = ((fixed_sigmoid(u.pre(1)) >> 2) * recurrent) >> 14;
    const int32_t n = fixed_tanh(wrapped_sum(u.pre(2), part));
    u.store_h(moved(fixed_sigmoid(u.pre(0)), n, u.old_h()));
  }
};

struct GruGatesFixed {
  static constexpr size_t kGates = 3;
  static RNNPACK_INLINE void step(const FixedUnit &u) {
    *at_byte(u.args->z_q, u.state) = fixed_sigmoid(u.pre(0));
    const int32_t rh = (fixed_sigmoid(u.pre(1)) * u.old_h() + (1 << 15)) >> 16;
    store_word(at_byte(u.args->rh, u.state), float_of_fixed(rh, kFractionBits));
  }
};

struct GruOutputFixed {
  static constexpr size_t kGates = 3;
  static RNNPACK_INLINE void step(const FixedUnit &u) {
    u.store_h(moved(*at_byte(u.args->z_q, u.state), fixed_tanh(u.pre(2)), u.old_h()));
  }
};

template <class Cell>
void run_fixed(const RecurArgs *args) {
  const size_t nr = args->integer.nr, width = nr * Cell::kGates;
  for (size_t m = 0; m < args->rows; ++m) {
    for (size_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const size_t unit = tile * nr * sizeof(float), left = args->hidden_size - tile * nr;
      FixedUnit u = {args,
                     at_byte(args->preact_q, m * args->preact_row_bytes) + tile * width,
                     nr,
                     unit + m * args->state_row_bytes,
                     unit + m * args->r_bias_row_bytes,
                     unit + m * args->y_row_bytes};
      for (size_t n = 0; n < nr && n < left; ++n) {
        Cell::step(u);
        ++u.preact, u.state += sizeof(float), u.r_bias += sizeof(float), u.y += sizeof(float);
      }
    }
  }
}

template <KernelFamily kFamily>
constexpr RecurFn fixed_function() {
  switch (kFamily) {
    case KernelFamily::kRnnTanh:
      return run_fixed<RnnFixed>;
    case KernelFamily::kLstm:
      return run_fixed<LstmFixed>;
    case KernelFamily::kGruLinear:
      return run_fixed<GruLinearFixed>;
    case KernelFamily::kGruGates:
      return run_fixed<GruGatesFixed>;
    default:
      return run_fixed<GruOutputFixed>;
  }
}

}  // namespace

#define RNNPACK_IN_recur_q15 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) fixed_function<KernelFamily::family>()
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
