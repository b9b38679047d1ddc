// recur_ref.cpp -- the recurrent rows in plain loops: ONNX's equations as they are written, one unit at a time.
// Room: kernels. Contract: kernels.h, RecurArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"
#include "kernels/scalar_math.h"

namespace rnnp {
namespace {

const float *ref_row_at(const float *first, size_t row, size_t row_bytes) {
  return static_cast<const float *>(static_cast<const void *>(reinterpret_cast<const char *>(first) + row * row_bytes));
}
float *ref_row_at(float *first, size_t row, size_t row_bytes) {
  return static_cast<float *>(static_cast<void *>(reinterpret_cast<char *>(first) + row * row_bytes));
}

// The plain cells are the generic ones with these parameters.
constexpr BlobActivation act_of(Act act) {
  return {static_cast<uint32_t>(act), 0.0f, 0.0f};
}
constexpr CellParams kLstmParams = {{act_of(Act::kSigmoid), act_of(Act::kTanh), act_of(Act::kTanh)}, 0.0f, 0};
constexpr CellParams kGruParams = {{act_of(Act::kSigmoid), act_of(Act::kTanh), act_of(Act::kIdentity)}, 0.0f, 0};
constexpr CellParams kTanhParams = {{act_of(Act::kTanh), act_of(Act::kIdentity), act_of(Act::kIdentity)}, 0.0f, 0};
constexpr CellParams kReluParams = {{act_of(Act::kRelu), act_of(Act::kIdentity), act_of(Act::kIdentity)}, 0.0f, 0};

// One unit of one row: lane n of a tile of nr.
struct Unit {
  const RecurArgs *args;
  const CellParams *cell;
  size_t nr, row, tile, n;

  size_t index() const { return tile * nr + n; }
  float act(int which, float x) const {
    const float limit = cell->clip;
    return scalar_activate(cell->act[which], limit == 0.0f ? x : scalar_clamp(x, -limit, limit));
  }
  float *state(float *rows) const { return ref_row_at(rows, row, args->state_row_bytes) + index(); }
  float h_prev() const { return ref_row_at(args->h_prev, row, args->state_row_bytes)[index()]; }
  void store_h(float h) const {
    *state(args->h_next) = h;
    if (args->y) ref_row_at(args->y, row, args->y_row_bytes)[index()] = h;
  }

  // acc[gate] before the recurrent part; `gates` gates in preact, bias and W.
  float input(uint32_t gates, uint32_t gate) const {
    const size_t width = gates * nr, column = gate * nr + n;
    if (args->x == nullptr) return ref_row_at(args->preact, row, args->preact_row_bytes)[tile * width + column];
    const float *x = ref_row_at(args->x, row, args->x_row_bytes);
    const float *w = args->w + tile * args->input_size * width;
    float sum = args->bias[tile * width + column];
    for (size_t k = 0; k < args->input_size; ++k) sum += x[k] * w[k * width + column];
    return sum;
  }
  // sum + h * R of a gate; `gates` gates in the panel.
  float recurrent(float sum, const float *vectors, uint32_t gates, uint32_t gate) const {
    const size_t width = gates * nr, column = gate * nr + n;
    const float *h = ref_row_at(vectors, row, args->state_row_bytes);
    const float *r = args->r + tile * args->recurrent_k * width;
    for (size_t k = 0; k < args->recurrent_k; ++k) sum += h[k] * r[k * width + column];
    return sum;
  }
  float gate(uint32_t gates, uint32_t g) const { return recurrent(input(gates, g), args->h_prev, gates, g); }
};

struct RnnRef {
  static void step(const Unit &u) { u.store_h(u.act(0, u.gate(1, 0))); }
};

struct LstmRef {
  static void step(const Unit &u) {
    const float *p = u.args->peephole ? u.args->peephole + u.tile * 3 * u.nr + u.n : nullptr;
    float *state = u.state(u.args->c);
    const float c = *state;
    const float i = u.act(0, u.gate(4, 0) + (p ? p[0] * c : 0.0f));
    const float f = u.cell->input_forget ? 1.0f - i : u.act(0, u.gate(4, 2) + (p ? p[2 * u.nr] * c : 0.0f));
    const float g = u.act(1, u.gate(4, 3));
    const float next = f * c + i * g;
    const float o = u.act(0, u.gate(4, 1) + (p ? p[u.nr] * next : 0.0f));
    *state = next;
    u.store_h(o * scalar_activate(u.cell->act[2], next));
  }
};

struct GruLinearRef {
  static void step(const Unit &u) {
    const float z = u.act(0, u.gate(3, 0));
    const float r = u.act(0, u.gate(3, 1));
    const float recurrent =
        u.recurrent(ref_row_at(u.args->r_bias, u.row, u.args->r_bias_row_bytes)[u.index()], u.args->h_prev, 3, 2);
    const float n = u.act(1, u.input(3, 2) + r * recurrent);
    u.store_h((1.0f - z) * n + z * u.h_prev());
  }
};

struct GruGatesRef {
  static void step(const Unit &u) {
    *u.state(u.args->z) = u.act(0, u.recurrent(u.input(3, 0), u.args->h_prev, 2, 0));
    *u.state(u.args->rh) = u.act(0, u.recurrent(u.input(3, 1), u.args->h_prev, 2, 1)) * u.h_prev();
  }
};

struct GruOutputRef {
  static void step(const Unit &u) {
    const float n = u.act(1, u.recurrent(u.input(3, 2), u.args->rh, 1, 0));
    const float z = *u.state(u.args->z);
    u.store_h((1.0f - z) * n + z * u.h_prev());
  }
};

template <class Cell>
void run_ref(const RecurArgs *args, const CellParams *cell, size_t nr) {
  for (size_t m = 0; m < args->rows; ++m)
    for (size_t tile = args->tile_begin; tile < args->tile_end; ++tile)
      for (size_t n = 0; n < nr && tile * nr + n < args->hidden_size; ++n) Cell::step({args, cell, nr, m, tile, n});
}

template <class Cell, uint32_t kNr, const CellParams &kParams>
void plain(const RecurArgs *args) {
  run_ref<Cell>(args, &kParams, kNr);
}
template <class Cell, uint32_t kNr>
void generic(const RecurArgs *args) {
  run_ref<Cell>(args, &args->cell, kNr);
}

template <KernelFamily kFamily, uint32_t kNr>
constexpr RecurFn ref_function() {
  switch (kFamily) {
    case KernelFamily::kRnnTanh:
      return plain<RnnRef, kNr, kTanhParams>;
    case KernelFamily::kRnnRelu:
      return plain<RnnRef, kNr, kReluParams>;
    case KernelFamily::kRnnGeneric:
      return generic<RnnRef, kNr>;
    case KernelFamily::kLstm:
      return plain<LstmRef, kNr, kLstmParams>;
    case KernelFamily::kLstmGeneric:
      return generic<LstmRef, kNr>;
    case KernelFamily::kGruLinear:
      return plain<GruLinearRef, kNr, kGruParams>;
    case KernelFamily::kGruLinearGeneric:
      return generic<GruLinearRef, kNr>;
    case KernelFamily::kGruGates:
      return plain<GruGatesRef, kNr, kGruParams>;
    case KernelFamily::kGruGatesGeneric:
      return generic<GruGatesRef, kNr>;
    case KernelFamily::kGruOutput:
      return plain<GruOutputRef, kNr, kGruParams>;
    default:
      return generic<GruOutputRef, kNr>;
  }
}

}  // namespace

#define RNNPACK_IN_recur_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_function<KernelFamily::family, nr>()
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
