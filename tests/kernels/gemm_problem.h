// gemm_problem.h -- what tests of gemm kernels that prepare rows in a scratch share. A problem has shape s, a, panels, bias_values
// and scratch, and run() and new_out(). Room: tests/kernels. SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_KERNELS_GEMM_PROBLEM_H_
#define TESTS_KERNELS_GEMM_PROBLEM_H_

#include "kernel_support.h"

namespace rnnp {

// Some rows against some tiles; `dense`: out has no padding. What else a format has is the caller's to fill in.
template <class Problem>
GemmArgs gemm_call(Problem *p, bool dense, const Rows &out, uint32_t row, uint32_t rows, uint32_t begin, uint32_t end) {
  GemmArgs args = {};
  args.a = p->a.row(row);
  args.a_row_bytes = p->a.stride_bytes();
  args.w.panels = p->panels.data();
  args.w.k = p->s.k;
  args.w.gates = static_cast<uint8_t>(p->s.gates);
  args.start = p->s.bias ? p->bias_values.data() : nullptr;
  args.out = out.row(row);
  args.out_row_bytes = out.stride_bytes();
  args.scratch = p->scratch.data() + (64 - reinterpret_cast<uintptr_t>(p->scratch.data()) % 64) % 64;
  args.rows = rows;
  args.tile_begin = begin;
  args.tile_end = end;
  args.units = dense ? p->s.units : 0;
  return args;
}

template <class Problem>
void expect_same_bits_however_cut(Problem *p, const Kernel &kernel, Random *random) {
  const Rows whole = p->new_out(), cut = p->new_out();
  p->run(kernel, whole, 0, p->s.rows, 0, p->tiles);
  cut_at_random(p->s.rows, p->tiles, random,
                [&](uint32_t row, uint32_t rows, uint32_t tile, uint32_t end) { p->run(kernel, cut, row, rows, tile, end); });
  ASSERT_TRUE(same_bits(whole.values(), cut.values()));
}

// Of rows that the call before prepared.
template <class Problem>
void expect_same_bits_once_prepared(Problem *p, const Kernel &kernel) {
  if (p->s.rows > kQuantisedRows) return;
  const Rows whole = p->new_out(), again = p->new_out();
  p->run(kernel, whole, 0, p->s.rows, 0, p->tiles);
  p->run(kernel, again, 0, p->s.rows, 0, p->tiles, true);
  ASSERT_TRUE(same_bits(whole.values(), again.values()));
}

}  // namespace rnnp
#endif  // TESTS_KERNELS_GEMM_PROBLEM_H_
