// recur_oracle.cpp -- see recur_oracle.h. The equations are those of support/equations.h.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include "recur_oracle.h"

#include <algorithm>
#include <cmath>

#include "pack/layout.h"
#include "support/equations.h"

namespace rnnp {
namespace {

BlobActivation act_of(Act act, float alpha = 0.0f, float beta = 0.0f) {
  return {uint32_t(act), alpha, beta};
}

// A value and the size of its error: eps * (terms + 1) * sum of the terms' sizes.
struct Sum {
  double value = 0.0, size = 0.0, terms = 0.0;
  void add(double term) {
    value += term;
    size += std::fabs(term);
    terms += 1.0;
  }
  double error() const { return std::ldexp(terms + 1.0, -23) * size; }
};

struct Unit {
  const Step &st;
  uint32_t m, u;

  // Gate `g` of `gates`, with the sum's input part, or its recurrent part, or both.
  Sum input(uint32_t g) const {
    Sum sum;
    if (!st.s.use_x) {
      sum.add(st.preact.at(m, (size_t{u / st.nr} * st.gates + g) * st.nr + u % st.nr));
      return sum;
    }
    const size_t row = size_t{g} * st.s.hidden + u;
    sum.add(st.bias_values[row]);
    for (uint32_t k = 0; k < st.s.input; ++k) sum.add(double{st.x.at(m, k)} * st.w_values[row * st.s.input + k]);
    return sum;
  }
  void recurrent(Sum *sum, uint32_t g, const Rows &h) const {
    const size_t row = size_t{g} * st.s.hidden + u;
    for (uint32_t k = 0; k < st.s.hidden; ++k) sum->add(double{h.at(m, k)} * st.r_values[row * st.s.hidden + k]);
  }
  Sum gate(uint32_t g) const {
    Sum sum = input(g);
    recurrent(&sum, g, kind() == CellKind::kGruOutput ? st.rh : st.h);
    return sum;
  }
  CellKind kind() const { return st.kind; }
  rnnp_test::CellRules rules() const { return {st.cell.act, st.cell.clip, st.cell.input_forget != 0}; }
  double peep(uint32_t g) const { return st.s.peephole ? st.peephole_values[size_t{g} * st.s.hidden + u] : 0.0; }
};

struct UnitOut {
  double h = 0.0, c = 0.0, z = 0.0, rh = 0.0, error = 0.0;
};

UnitOut step_unit(const Unit &at) {
  const Step &st = at.st;
  UnitOut out;
  const rnnp_test::CellRules rules = at.rules();
  const double h = st.h.at(at.m, at.u);
  switch (at.kind()) {
    case CellKind::kRnn: {
      const Sum a = at.gate(0);
      out.h = rules.f(a.value);
      out.error = a.error();
      break;
    }
    case CellKind::kLstm: {
      const Sum i = at.gate(0), o = at.gate(1), f = at.gate(2), g = at.gate(3);
      const double c = st.c.at(at.m, at.u);
      const rnnp_test::LstmUnit unit =
          rnnp_test::lstm_unit(rules, {i.value, o.value, f.value, g.value}, {at.peep(0), at.peep(1), at.peep(2)}, c);
      out.h = unit.h;
      out.c = unit.c;
      out.error = (i.error() + f.error() + g.error() + o.error()) * (1.0 + std::fabs(c)) * 2.0;
      break;
    }
    case CellKind::kGruLinear: {
      const Sum z = at.gate(0), r = at.gate(1), nx = at.input(2);
      Sum nh;
      nh.add(st.r_bias_values[at.u]);
      at.recurrent(&nh, 2, st.h);
      const double candidate = nx.value + rules.f(r.value) * nh.value, n = rules.g(candidate);
      out.h = rnnp_test::gru_unit(rules, rules.f(z.value), candidate, h);
      out.error = (z.error() + r.error() * std::fabs(nh.value) + nx.error() + nh.error()) * (1.0 + std::fabs(h) + std::fabs(n));
      break;
    }
    case CellKind::kGruGates: {
      const Sum z = at.gate(0), r = at.gate(1);
      out.z = rules.f(z.value);
      out.rh = rules.f(r.value) * h;
      out.error = z.error() + r.error() * std::fabs(h);
      break;
    }
    case CellKind::kGruOutput: {
      const Sum a = at.gate(2);
      const double z = st.z.at(at.m, at.u);
      out.h = rnnp_test::gru_unit(rules, z, a.value, h);
      out.error = a.error();
      break;
    }
  }
  return out;
}

}  // namespace

CellKind cell_kind(KernelFamily family) {
  if (family <= KernelFamily::kRnnGeneric) return CellKind::kRnn;
  if (family <= KernelFamily::kLstmGeneric) return CellKind::kLstm;
  if (family <= KernelFamily::kGruLinearGeneric) return CellKind::kGruLinear;
  return family <= KernelFamily::kGruGatesGeneric ? CellKind::kGruGates : CellKind::kGruOutput;
}

bool is_generic(KernelFamily f) {
  return f == KernelFamily::kRnnGeneric || f == KernelFamily::kLstmGeneric || f == KernelFamily::kGruLinearGeneric ||
         f == KernelFamily::kGruGatesGeneric || f == KernelFamily::kGruOutputGeneric;
}

uint32_t gates_of(CellKind kind) {
  return kind == CellKind::kRnn ? 1 : kind == CellKind::kLstm ? 4 : 3;
}

CellParams plain_params(KernelFamily family) {
  CellParams p = {{act_of(Act::kSigmoid), act_of(Act::kTanh), act_of(Act::kTanh)}, 0.0f, 0};
  if (cell_kind(family) == CellKind::kRnn) p.act[0] = act_of(family == KernelFamily::kRnnRelu ? Act::kRelu : Act::kTanh);
  return p;
}

Step::Step(KernelFamily f, uint32_t width, const StepShape &shape, bool integers, uint64_t seed)
    : family(f), kind(cell_kind(f)), nr(width), tiles(tile_count(shape.hidden, width)), gates(gates_of(kind)), s(shape) {
  Random random(seed);
  const auto draw = [&] { return integers ? random.integer(2) : random.uniform(-1.0f, 1.0f); };
  const auto fill = [&](std::vector<float> *v, size_t n) {
    v->resize(n);
    for (float &value : *v) value = draw();
  };
  if (kind == CellKind::kGruGates || kind == CellKind::kGruOutput) s.use_x = false;
  s.peephole = s.peephole && family == KernelFamily::kLstmGeneric;
  cell = plain_params(family);
  const uint32_t hidden = s.hidden;
  fill(&w_values, size_t{gates} * hidden * s.input);
  fill(&r_values, size_t{gates} * hidden * hidden);
  fill(&bias_values, size_t{gates} * hidden);
  fill(&r_bias_values, hidden);
  fill(&peephole_values, size_t{3} * hidden);
  w = packed(w_values, hidden, s.input, 0, gates, nr);
  const uint32_t first = kind == CellKind::kGruOutput ? 2 : 0;
  const uint32_t count = kind == CellKind::kGruOutput ? 1 : kind == CellKind::kGruGates ? 2 : gates;
  r = packed(r_values, hidden, hidden, first, count, nr);
  bias = packed(bias_values, hidden, 1, 0, gates, nr);
  r_bias = packed(r_bias_values, hidden, 1, 0, 1, nr);
  peephole = packed(peephole_values, hidden, 1, 0, 3, nr);

  const auto rows_of = [&](Rows *rows, size_t cols, size_t stride) {
    *rows = Rows(s.rows, cols, stride);
    for (size_t m = 0; m < s.rows; ++m)
      for (size_t n = 0; n < cols; ++n) rows->at(m, n) = draw();
  };
  state_stride = size_t{tiles} * nr + 3;
  rows_of(&preact, size_t{tiles} * gates * nr, size_t{tiles} * gates * nr + 7);
  rows_of(&x, s.input, s.input + 1);
  rows_of(&h, hidden, state_stride);
  rows_of(&c, size_t{tiles} * nr, state_stride);
  rows_of(&z, size_t{tiles} * nr, state_stride);
  rows_of(&rh, hidden, state_stride);
}

StepOut::StepOut(const Step &st)
    : h(st.s.rows, size_t{st.tiles} * st.nr, st.state_stride),
      c(st.s.rows, size_t{st.tiles} * st.nr, st.state_stride),
      z(st.s.rows, size_t{st.tiles} * st.nr, st.state_stride),
      rh(st.s.rows, size_t{st.tiles} * st.nr, st.state_stride),
      y(st.s.rows, st.s.hidden, st.s.hidden + 2) {
  for (size_t m = 0; m < c.rows(); ++m)
    for (size_t n = 0; n < c.cols(); ++n) c.at(m, n) = st.c.at(m, n);
}

std::vector<float> StepOut::results(const Step &st) const {
  std::vector<float> out;
  const auto take = [&](const Rows &rows) {
    for (size_t m = 0; m < st.s.rows; ++m) out.insert(out.end(), rows.row(m), rows.row(m) + st.s.hidden);
  };
  if (st.kind == CellKind::kGruGates) {
    take(z);
    take(rh);
    return out;
  }
  take(h);
  if (st.kind == CellKind::kLstm) take(c);
  if (st.s.use_y) take(y);
  return out;
}

RecurArgs args_of(const Step &st, const StepOut &out, const Cut &cut) {
  RecurArgs args = {};
  args.r = st.r.data();
  args.w = st.w.data();
  args.bias = st.bias.data();
  args.r_bias = st.r_bias.data();
  args.peephole = st.s.peephole ? st.peephole.data() : nullptr;
  args.preact = st.s.use_x ? nullptr : st.preact.row(cut.row);
  args.preact_row_bytes = st.preact.stride_bytes();
  args.x = st.s.use_x ? st.x.row(cut.row) : nullptr;
  args.x_row_bytes = st.x.stride_bytes();
  args.h_prev = st.h.row(cut.row);
  args.h_next = out.h.row(cut.row);
  args.c = out.c.row(cut.row);
  const bool reads_z = st.kind == CellKind::kGruOutput;
  args.z = (reads_z ? st.z : out.z).row(cut.row);
  args.rh = (reads_z ? st.rh : out.rh).row(cut.row);
  args.state_row_bytes = st.h.stride_bytes();
  args.y = st.s.use_y ? out.y.row(cut.row) : nullptr;
  args.y_row_bytes = out.y.stride_bytes();
  args.rows = cut.rows;
  args.input_size = st.s.input;
  args.hidden_size = st.s.hidden;
  args.recurrent_k = st.s.hidden;
  args.tile_begin = cut.tile_begin;
  args.tile_end = cut.tile_end;
  args.descending = cut.descending;
  args.prefetch_next_tile = cut.prefetch_next_tile;
  args.cell = st.cell;
  return args;
}

// out[tile][..] += a * the panels of gate `gate`, out's tiles being out_tile floats apart.
static void add_gate(const Kernel &gemm, const Step &st, const Rows &a, uint32_t gate, const Rows &out, float *at,
                     uint32_t out_tile) {
  const Rows panels = packed(st.r_values, st.s.hidden, st.s.hidden, gate, 1, st.nr);
  GemmArgs args = {};
  args.a = a.data();
  args.a_row_bytes = a.stride_bytes();
  args.w.panels = panels.data();
  args.start = args.out = at;
  args.start_row_bytes = args.out_row_bytes = out.stride_bytes();
  args.start_tile = args.out_tile = static_cast<uint8_t>(out_tile);
  args.rows = st.s.rows;
  args.w.k = st.s.hidden;
  args.w.gates = 1;
  args.tile_end = st.tiles;
  gemm.gemm(&args);
}

void run_step(const Kernel &kernel, const Step &st, const StepOut &out, const Cut &cut) {
  const RecurArgs args = args_of(st, out, cut);
  kernel.recur(&args);
}

StepOut run_apart(const Kernel &kernel, const Kernel &gemm, const Step &st) {
  StepOut out(st);
  Rows preact(st.s.rows, st.preact.cols(), st.preact.cols() + 1), candidate(st.s.rows, size_t{st.tiles} * st.nr, 0);
  for (size_t m = 0; m < st.s.rows; ++m) {
    for (size_t n = 0; n < preact.cols(); ++n) preact.at(m, n) = st.preact.at(m, n);
    for (size_t n = 0; n < candidate.cols(); ++n) candidate.at(m, n) = st.r_bias.at(0, n);
  }
  RecurArgs args = args_of(st, out, {0, st.s.rows, 0, st.tiles, false});
  const uint32_t first = st.kind == CellKind::kGruOutput ? 2 : 0;
  const uint32_t end = st.kind == CellKind::kGruLinear || st.kind == CellKind::kGruGates ? 2 : st.gates;
  for (uint32_t gate = first; gate < end; ++gate)
    add_gate(gemm, st, first == 2 ? st.rh : st.h, gate, preact, preact.data() + gate * st.nr, st.gates * st.nr);
  if (st.kind == CellKind::kGruLinear) {
    add_gate(gemm, st, st.h, 2, candidate, candidate.data(), st.nr);
    args.r_bias = candidate.data();
    args.r_bias_row_bytes = candidate.stride_bytes();
  }
  args.preact = preact.data();
  args.preact_row_bytes = preact.stride_bytes();
  args.recurrent_k = 0;
  kernel.recur(&args);
  return out;
}

StepOut run_step(const Kernel &kernel, const Step &st) {
  StepOut out(st);
  run_step(kernel, st, out, {0, st.s.rows, 0, st.tiles, false});
  return out;
}

Expected oracle(const Step &st) {
  std::vector<UnitOut> units;
  for (uint32_t m = 0; m < st.s.rows; ++m)
    for (uint32_t u = 0; u < st.s.hidden; ++u) units.push_back(step_unit({st, m, u}));
  Expected out;
  const auto take = [&](double UnitOut::*member) {
    for (const UnitOut &u : units) {
      out.value.push_back(u.*member);
      // Beside the sums' error: a few roundings of the cell itself.
      out.bound.push_back(u.error + std::ldexp(8.0, -23) * (1.0 + std::fabs(u.*member)));
    }
  };
  if (st.kind == CellKind::kGruGates) {
    take(&UnitOut::z);
    take(&UnitOut::rh);
    return out;
  }
  take(&UnitOut::h);
  if (st.kind == CellKind::kLstm) take(&UnitOut::c);
  if (st.s.use_y) take(&UnitOut::h);
  return out;
}

}  // namespace rnnp
