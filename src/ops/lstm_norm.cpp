// lstm_norm.cpp -- the layer-normalised LSTM: the equations of its cell and the operator that runs them as phases. Where n(v) is
// (v - mean) / sqrt(variance + epsilon) of a row, over each gate's units or those of all four:
//   gates  = n(W x + b) x_scale + n(R h + r_bias) h_scale + bias, or n(W x + b + R h) x_scale + bias
//   raw    = sigmoid(f) c + sigmoid(i) tanh(g)       c' = n(raw) c_scale + c_bias       h' = sigmoid(o) tanh(c')
// and the state is c', or raw. A norm needs all units, so threads meet behind the product and behind raw; each of them sums whole
// rows, in the order of lanes.h by units, whatever tiles it owns. Touches what RecurArgs names.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "kernels/scalar_math.h"
#include "ops/lanes.h"
#include "ops/recurrent.h"
#include "ops/recurrent_check.h"
#include "ops/sweep_tiles.h"

namespace rnnp {

struct CellNorm {
  RNNPACK_BYTES_32(40);
  const float *x_scale, *h_scale, *bias, *c_scale, *c_bias;  // h_scale: nullptr where one norm is of both
  float x_epsilon, h_epsilon, c_epsilon;
  ActFn act;
  uint8_t nr;
  bool by_gate, keeps_c;
};

namespace {

constexpr uint32_t kGates = 4, kMostNr = 16;

struct Spread {
  float mean, factor;
};

Spread spread_of(float mean, float squares, float count, float epsilon) {
  return {mean, 1.0f / scalar_sqrt(squares / count + epsilon)};
}

// One row's gates, [tile][gate][NR]; unit u goes to lane u mod 16, whatever NR is.
template <class Fold>
void fold_gates(const Fold (&folds)[kGates], const float *row, uint32_t units, uint32_t nr, float (&out)[kGates]) {
  float lanes[kGates][kLanes];
  for (auto &each : lanes) fold_start<Fold>(each);
  for (uint32_t unit = 0; unit < units; unit += nr) {
    const uint32_t count = units - unit < nr ? units - unit : nr;
    for (uint32_t g = 0; g < kGates; ++g, row += nr) {
      float *to = lanes[g] + unit % kLanes;
      for (uint32_t n = 0; n < count; ++n) to[n] = Fold::join(to[n], folds[g].map(row[n]));
    }
  }
  for (uint32_t g = 0; g < kGates; ++g) out[g] = fold_end<Fold>(lanes[g]);
}

float of_all(const float (&sums)[kGates]) {
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void measure(const float *row, uint32_t units, const CellNorm &n, float epsilon, Spread (&out)[kGates]) {
  const float count = static_cast<float>(n.by_gate ? units : kGates * units);
  float sums[kGates], squares[kGates];
  fold_gates<FoldSum>({}, row, units, n.nr, sums);
  for (float &sum : sums) sum = (n.by_gate ? sum : of_all(sums)) / count;
  const float all = sums[0];
  if (!n.by_gate) sums[1] = sums[2] = sums[3] = all;
  fold_gates<FoldSumSquareOff>(
      {FoldSumSquareOff(sums[0]), FoldSumSquareOff(sums[1]), FoldSumSquareOff(sums[2]), FoldSumSquareOff(sums[3])}, row, units,
      n.nr, squares);
  const float whole = of_all(squares);
  for (uint32_t g = 0; g < kGates; ++g) out[g] = spread_of(sums[g], n.by_gate ? squares[g] : whole, count, epsilon);
}

void activate_gate(const CellNorm &n, Act act, float *v, size_t count) {
  const ActArgs args = {v, v, count, {static_cast<uint32_t>(act), 0.0f, 0.0f}};
  n.act(&args);
}

// One tile's gates of one row, i o f g, behind their activations.
void finish_gates(const CellNorm &n, const float *x, const float *h, const Spread (&of_x)[kGates], const Spread (&of_h)[kGates],
                  size_t at, float *gates) {
  const size_t nr = n.nr;
  for (uint32_t g = 0; g < kGates; ++g, at += nr, gates += nr) {
    const Spread sx = of_x[g], sh = of_h[g];
    for (size_t i = 0; i < nr; ++i) gates[i] = (x[at + i] - sx.mean) * sx.factor * n.x_scale[at + i] + n.bias[at + i];
    if (h == nullptr) continue;
    for (size_t i = 0; i < nr; ++i) gates[i] += (h[at + i] - sh.mean) * sh.factor * n.h_scale[at + i];
  }
  gates -= kGates * nr;
  activate_gate(n, Act::kSigmoid, gates, 3 * nr);
  activate_gate(n, Act::kTanh, gates + 3 * nr, nr);
}

template <class T>
T *row_at(T *first, size_t row, size_t row_bytes) {
  return operand_at(first, row * row_bytes);
}

// Gates, and c before its norm, which goes to rh; o waits in h_next.
void run_gates(const RecurArgs *args) {
  const RecurArgs &a = *args;
  const CellNorm &n = *a.norm;
  const size_t nr = n.nr;
  for (size_t row = 0; row < a.rows; ++row) {
    const float *x = row_at(a.preact, row, a.preact_row_bytes);
    const float *h = n.h_scale == nullptr ? nullptr : row_at(a.r_bias, row, a.r_bias_row_bytes);
    float *c = row_at(a.c, row, a.state_row_bytes), *raw = row_at(a.rh, row, a.state_row_bytes);
    float *o = row_at(a.h_next, row, a.state_row_bytes);
    Spread of_x[kGates], of_h[kGates] = {};
    measure(x, a.hidden_size, n, n.x_epsilon, of_x);
    if (h != nullptr) measure(h, a.hidden_size, n, n.h_epsilon, of_h);
    for (size_t tile = a.tile_begin; tile < a.tile_end; ++tile) {
      float gates[kGates * kMostNr];
      finish_gates(n, x, h, of_x, of_h, tile * kGates * nr, gates);
      for (size_t i = 0, unit = tile * nr; i < nr; ++i, ++unit) {
        raw[unit] = gates[2 * nr + i] * c[unit] + gates[i] * gates[3 * nr + i];
        o[unit] = gates[nr + i];
      }
      if (n.keeps_c) copy_bytes(c + tile * nr, raw + tile * nr, nr * sizeof(float));
    }
  }
}

// c and h, of all units' raw.
void run_output(const RecurArgs *args) {
  const RecurArgs &a = *args;
  const CellNorm &n = *a.norm;
  const uint32_t nr = n.nr, end = a.tile_end * nr < a.hidden_size ? a.tile_end * nr : a.hidden_size;
  const float count = static_cast<float>(a.hidden_size);
  for (size_t row = 0; row < a.rows; ++row) {
    const float *raw = row_at(a.rh, row, a.state_row_bytes);
    const float mean = fold_row(FoldSum(), raw, a.hidden_size) / count;
    const Spread s = spread_of(mean, fold_row(FoldSumSquareOff(mean), raw, a.hidden_size), count, n.c_epsilon);
    float *c = row_at(a.c, row, a.state_row_bytes), *h = row_at(a.h_next, row, a.state_row_bytes);
    for (uint32_t unit = a.tile_begin * nr; unit < a.tile_end * nr; unit += nr) {
      float next[kMostNr];
      for (uint32_t i = 0; i < nr; ++i) next[i] = (raw[unit + i] - s.mean) * s.factor * n.c_scale[unit + i] + n.c_bias[unit + i];
      if (!n.keeps_c) copy_bytes(c + unit, next, nr * sizeof(float));
      activate_gate(n, Act::kTanh, next, nr);
      for (uint32_t i = 0; i < nr; ++i) h[unit + i] *= next[i];
    }
    const uint32_t begin = a.tile_begin * nr;
    if (a.y != nullptr && begin < end)
      copy_bytes(row_at(a.y, row, a.y_row_bytes) + begin, h + begin, (end - begin) * sizeof(float));
  }
}

// h * R, onto pre-activations, or by itself.
void multiply_norm(const Phase &, const RecurArgs &a, Products *products) {
  GemmArgs &g = products->gates;
  g.a = a.h_prev;
  g.out = products->linear ? const_cast<float *>(a.r_bias) : const_cast<float *>(a.preact);
  if (!products->linear) g.start = g.out;
  g.rows = a.rows;
  g.prepared = false;
  sweep_tiles(products->gemm, &g, products->piece_tiles[0], a);
}

bool norm_fits(const Model &m, const BlobDirection &d, const BlobCellNorm &n) {
  const Matrix w = m.matrix(d.w);
  if (d.r_bias != kNone && (n.h_scale == kNone || !m.vector_fits(d.r_bias, w, kGates))) return false;
  return m.vector_fits(n.x_scale, w, kGates) && (n.h_scale == kNone || m.vector_fits(n.h_scale, w, kGates)) &&
         m.vector_fits(n.bias, w, kGates) && m.vector_fits(n.c_scale, w, 1) && m.vector_fits(n.c_bias, w, 1) && n.x_epsilon >= 0 &&
         n.h_epsilon >= 0 && n.c_epsilon >= 0;
}

rnnp_status check_lstm_norm(const Model &m, const BlobNode &node) {
  const rnnp_status status = check_recurrent_of(m, node, Cell::kLstmNorm);
  if (status != RNNP_OK) return status;
  const AttrNormRecurrent *a = m.attr<AttrNormRecurrent>(node);
  if (a == nullptr || a->by_gate > 1 || a->keeps_c > 1) return RNNP_E_BLOB_CORRUPT;
  for (uint32_t d = 0; d < a->layer.direction_count; ++d) {
    const BlobDirection &b = a->layer.direction[d];
    const PanelFormat w = m.matrix(b.w).format;
    if (step_family(a->layer, b) != KernelFamily::kLstm || !norm_fits(m, b, a->norm[d])) return RNNP_E_BLOB_CORRUPT;
    if (is_fixed_point(w) || is_fixed_point(m.matrix(b.r).format) || w.nr > kMostNr) return RNNP_E_LAYOUT;
  }
  return RNNP_OK;
}

void fill_norm_direction(const BuildEnv &env, const AttrNormRecurrent &a, uint32_t d, const RecurrentPlan &plan, GemmFn gemm,
                         ActFn act, Products *products, CellNorm *norm, Direction *direction) {
  const Model &m = *env.model;
  const BlobCellNorm &b = a.norm[d];
  const uint8_t nr = static_cast<uint8_t>(m.matrix(a.layer.direction[d].w).format.nr);
  const bool apart = b.h_scale != kNone;
  *norm = {m.weights(b.x_scale),
           apart ? m.weights(b.h_scale) : nullptr,
           m.weights(b.bias),
           m.weights(b.c_scale),
           m.weights(b.c_bias),
           b.x_epsilon,
           b.h_epsilon,
           b.c_epsilon,
           act,
           nr,
           a.by_gate != 0,
           a.keeps_c != 0};
  Products &p = *products;
  p = {};
  p.multiply = multiply_norm;
  p.gemm = gemm;
  p.linear = apart;
  p.gates = p.candidate = product_with(m.matrix(a.layer.direction[d].r), plan, nr, direction->args);
  if (apart) {  // all rows start alike
    const uint32_t start = a.layer.direction[d].r_bias;
    p.gates.start = start == kNone ? nullptr : m.weights(start);
    p.gates.start_row_bytes = 0;
  }
  p.piece_tiles[0] = p.piece_tiles[1] = tiles_of_a_piece(plan, nr, kGates, env.l2_bytes);
  direction->products = products;
  direction->args.norm = norm;
  direction->args.r_bias_row_bytes = plan.row_bytes;
  direction->phases[0] = {nullptr, nullptr, PhaseKind::kGates, false, true, false};
  direction->phases[1] = {run_gates, nullptr, PhaseKind::kCells, false, true, false};
  direction->phases[2] = {run_output, nullptr, PhaseKind::kCells, false, true, true};
}

rnnp_status build_lstm_norm(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrNormRecurrent *a = m.attr<AttrNormRecurrent>(node);
  const RecurrentShape shape = recurrent_shape(m, a->layer);
  const Kernel *product = find_gemm(*env, shape.r, kGates), *act = find_act(*env, {uint32_t(Act::kSigmoid), 0.0f, 0.0f});
  if (product == nullptr || act == nullptr) return RNNP_E_LAYOUT;
  const RecurrentPlan plan = plan_recurrent(shape, *env);
  const uint32_t count = a->layer.direction_count;
  Recurrent *layer = nullptr;
  const rnnp_status status = build_over_time(env, a->layer, plan, {find_gemm(*env, shape.w, kGates), false, 0, 3, true}, &layer);
  Products *products = env->arena->take<Products>(count);
  CellNorm *norms = env->arena->take<CellNorm>(count);
  *object = layer;
  for (uint32_t d = 0; layer != nullptr && norms != nullptr && d < count; ++d)
    fill_norm_direction(*env, *a, d, plan, product->gemm, act->act, products + d, norms + d, &layer->direction[d]);
  return status;
}

void run_lstm_norm(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  Products products;
  run_over_time(env, node, *static_cast<const Recurrent *>(object), thread, &products);
}

bool accepts_lstm_norm(const OpChoice &choice, const BlobNode &node) {
  return has_norms(*choice.model, node);
}

}  // namespace

RNNPACK_OP(recurrent_norm, {OpKind::kRecurrent, accepts_lstm_norm, check_lstm_norm, recurrent_costs, build_lstm_norm,
                            finish_recurrent, run_lstm_norm});

}  // namespace rnnp
