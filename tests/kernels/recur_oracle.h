// recur_oracle.h -- a random recurrent step with all operands at guard pages, and what it must give in f64.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_KERNELS_RECUR_ORACLE_H_
#define RNNPACK_TESTS_KERNELS_RECUR_ORACLE_H_

#include "kernel_support.h"

namespace rnnp {

struct StepShape {
  uint32_t rows, input, hidden;
  bool use_x;
  bool use_y;
  bool peephole;  // generic LSTM only
};

// What family a row computes, without regard to which activations are built in.
enum class CellKind { kRnn, kLstm, kGruLinear, kGruGates, kGruOutput };
CellKind cell_kind(KernelFamily family);
bool is_generic(KernelFamily family);
uint32_t gates_of(CellKind kind);              // of preact, bias and W
CellParams plain_params(KernelFamily family);  // what the plain rows have built in

// Everything one step reads; the same for every kernel of one family and nr.
struct Step {
  Step(KernelFamily family, uint32_t nr, const StepShape &shape, bool integers, uint64_t seed);

  KernelFamily family;
  CellKind kind;
  uint32_t nr, tiles, gates;
  StepShape s;
  CellParams cell;
  std::vector<float> w_values, r_values, bias_values, r_bias_values, peephole_values;
  Rows w, r, bias, r_bias, peephole, preact, x, h, c, z, rh;
  size_t state_stride;  // floats
};

// What one step writes. States are padded to whole tiles; results() are the real units, in h, c, z, rh, y.
struct StepOut {
  explicit StepOut(const Step &step);
  Rows h, c, z, rh, y;
  std::vector<float> results(const Step &step) const;
};

struct Cut {
  uint32_t row, rows, tile_begin, tile_end;
  bool descending;
  bool prefetch_next_tile = false;
};
RecurArgs args_of(const Step &step, const StepOut &out, const Cut &cut);
void run_step(const Kernel &kernel, const Step &step, const StepOut &out, const Cut &cut);
StepOut run_step(const Kernel &kernel, const Step &step);

// The same, without x, in two: `gemm` multiplies by R, then `kernel` does the cells alone.
StepOut run_apart(const Kernel &kernel, const Kernel &gemm, const Step &step);

// In f64, from the same operands: results() order, and for each the bound of its error.
struct Expected {
  std::vector<double> value, bound;
};
Expected oracle(const Step &step);

}  // namespace rnnp
#endif  // RNNPACK_TESTS_KERNELS_RECUR_ORACLE_H_
