// cells_mve.h -- the plain LSTM, GRU and tanh cells in Helium: finished sums in, new state out, tile after tile in one
// tail-predicated loop. Room: kernels; included by recur_mve_body.h. Touches only what CellRows points to.
// Contract: the bits of cell_body.h with Form::kQuick of math_body.h; lanes behind the last unit are left as they are.
// Why so: left to GCC 12, two thirds of a cell are constants on their way through the stack. Here core registers hold them for all
// tiles, which vector instructions take as operands.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_CELLS_MVE_H_
#define RNNPACK_KERNELS_CELLS_MVE_H_

#include <stddef.h>

#include "kernels/inlining.h"
#include "kernels/math_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Of a row's next tiles, in the order in which the assembler loads it. State and output step on.
struct CellRows {
  float *h_next, *y;
  union {
    float *c;             // LSTM
    const float *h_prev;  // GRU
  };
  const float *sums;  // [tiles][gates][4]
  const float *constants;
  size_t units;         // above 0
  const float *r_sums;  // GRU: [tiles][4], the recurrent part of the last gate
  size_t pushed[2];     // unused: TILES pushes as much, which the compiler's count of stack does not see
};

// Into r4 and on; the limit is left out where addresses take more registers.
constexpr float kCellConstants[9] = {-kLog2E, kRoundBiased, kLn2Hi, -kExp3, -kExp5, kExp4, kExp6, 1.0f, 30.0f};
static_assert(kExp2 == 0.5f, "an immediate below");

// Assembler text.
#define TWO(op, to, a) op " " to ", " a "\n\t"
#define THREE(op, to, a, b) op " " to ", " a ", " b "\n\t"
#define LOAD(to, at) "vldrw.u32 " to ", " at "\n\t"
#define STORE(x, at) "vstrw.32 " x ", " at "\n\t"
#define SET(to, value) TWO("vmov.f32", to, value)
#define ADD(to, a, b) THREE("vadd.f32", to, a, b)
#define SUB(to, a, b) THREE("vsub.f32", to, a, b)
#define MUL(to, a, b) THREE("vmul.f32", to, a, b)
#define FMA(to, a, b) THREE("vfma.f32", to, a, b)
#define FMS(to, a, b) THREE("vfms.f32", to, a, b)
// Of exp_falling<1>(x): x becomes -frac, which takes an instruction less, and `scale` the scale; t0 to t2 are for use.
#define EXP_FALLING(x, scale, t0, t1, t2) \
  TWO("vdup.32", scale, "r5")             \
  FMA(scale, x, "r4")                     \
  SUB(t0, scale, "r5")                    \
  FMA(x, t0, "r6")                        \
  MUL(t0, x, x)                           \
  SET(t1, "#0.5")                         \
  FMA(t1, x, "r7")                        \
  TWO("vdup.32", t2, "r9")                \
  FMA(t2, x, "r8") FMA(t2, t0, "r10") FMS(x, t0, t1) MUL(t0, t0, t0) FMS(x, t0, t2) THREE("vshl.i32", scale, scale, "#23")
// x cut to 30, which a core or a vector register holds.
#define CUT(x) "vpt.f32 gt, " x ", r12\n\tvdupt.32 " x ", r12\n\t"
#define CUT_TO(limit, x) "vpt.f32 gt, " x ", " limit "\n\tvmovt " x ", " limit "\n\t"
// t0 becomes gate_denominator(x), x being cut to 30 already; low is -30. A quiet NaN is positive here, so that as an unsigned
// number it lies below -30 and stays.
#define GATE(x, low, scale, t0, t1, t2) \
  THREE("vmin.u32", x, x, low) EXP_FALLING(x, scale, t0, t1, t2) ADD(t0, scale, "r11") FMS(t0, scale, x)
// Of tanh_parts(x) = expm1(-y) / (1 + e^-y), signed like x: x becomes the numerator, t1 the denominator. y is made by TWICE and
// cut.
#define TWICE(y, x) TWO("vabs.f32", y, x) ADD(y, y, y)
#define TANH(x, y, scale, t0, t1, t2) \
  EXP_FALLING(y, scale, t0, t1, t2)   \
  SUB(t0, scale, "r11")               \
  FMS(t0, scale, y) ADD(t1, scale, "r11") FMS(t1, scale, y) THREE("vshl.i32", t0, t0, "#1") THREE("vsri.32", x, t0, "#1")
// q0 = q0 / q1.
#define DIVIDE                        \
  THREE("vdiv.f32", "s0", "s0", "s4") \
  THREE("vdiv.f32", "s1", "s1", "s5") THREE("vdiv.f32", "s2", "s2", "s6") THREE("vdiv.f32", "s3", "s3", "s7")
#define STORE_H STORE("q0", "[r0], #16") STORE("q0", "[r1], #16")
// All tiles. r7 may be the frame pointer.
#define TILES(more_rows, constants, text)                                                                                          \
  "push {r0, r7}\n\tldm r0, {r0, r1, r2, r3, r4, r11" more_rows "}\n\tdlstp.32 lr, r11\n\tldm r4, {r4-" constants "}\n1:\n\t" text \
  "letp lr, 1b\n\tpop {r4, r7}\n\tstm r4, {r0, r1, r2}"
#define RUN(text)                                                                                                                 \
  register CellRows *at __asm__("r0") = rows;                                                                                     \
  __asm__ volatile(text                                                                                                           \
                   : "+r"(at)                                                                                                     \
                   :                                                                                                              \
                   : "cc", "memory", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "q0", "q1", "q2", \
                     "q3", "q4", "q5", "q6", "q7")

#define TANH_TILE LOAD("q0", "[r3], #16") TWICE("q2", "q0") CUT("q2") TANH("q0", "q2", "q3", "q4", "q1", "q5") DIVIDE STORE_H
RNNPACK_INLINE void tanh_cells(CellRows *rows) {
  RUN(TILES("", "r12", TANH_TILE));
}

// The parts of tanh of gate c are in q0 and q1; q1 becomes the product of i's denominator and this one, q2 f's, q3 o's.
#define LSTM_GATES                         \
  LOAD("q0", "[r3, #48]")                  \
  TWICE("q2", "q0")                        \
  CUT("q2")                                \
  TANH("q0", "q2", "q3", "q4", "q1", "q5") \
  SET("q7", "#-30.0")                      \
  LOAD("q2", "[r3], #64")                  \
  CUT("q2")                                \
  GATE("q2", "q7", "q3", "q4", "q5", "q6") \
  MUL("q1", "q4", "q1")                    \
  LOAD("q3", "[r3, #-32]")                 \
  CUT("q3") GATE("q3", "q7", "q4", "q2", "q5", "q6") LOAD("q4", "[r3, #-48]") CUT("q4") GATE("q4", "q7", "q5", "q3", "q6", "q7")
#define LSTM_STATE                                                                                                           \
  MUL("q0", "q0", "q2")                                                                                                      \
  LOAD("q4", "[r2]")                                                                                                         \
  FMA("q0", "q4", "q1")                                                                                                      \
  MUL("q1", "q1", "q2")                                                                                                      \
  DIVIDE STORE("q0", "[r2], #16") TWICE("q2", "q0") CUT("q2") TANH("q0", "q2", "q4", "q5", "q1", "q6") MUL("q1", "q1", "q3") \
      DIVIDE STORE_H
RNNPACK_INLINE void lstm_cells(CellRows *rows) {
  RUN(TILES("", "r12", LSTM_GATES LSTM_STATE));
}

// q0: the recurrent part over r's denominator; q2: z's.
#define GRU_GATES                          \
  SET("q7", "#-30.0")                      \
  LOAD("q2", "[r3, #16]")                  \
  CUT_TO("q6", "q2")                       \
  GATE("q2", "q7", "q3", "q1", "q4", "q5") \
  LOAD("q0", "[r12], #16") DIVIDE LOAD("q3", "[r3], #48") CUT_TO("q6", "q3") GATE("q3", "q7", "q4", "q2", "q1", "q5")
#define GRU_STATE                          \
  LOAD("q1", "[r3, #-16]")                 \
  ADD("q3", "q1", "q0")                    \
  TWICE("q4", "q3")                        \
  CUT_TO("q6", "q4")                       \
  TANH("q3", "q4", "q5", "q0", "q1", "q7") \
  LOAD("q0", "[r2], #16") MUL("q0", "q0", "q1") SUB("q4", "q2", "r11") MUL("q1", "q2", "q1") FMA("q0", "q4", "q3") DIVIDE STORE_H
RNNPACK_INLINE void gru_cells(CellRows *rows) {
  RUN(SET("q6", "#30.0") TILES(", r12", "r11", GRU_GATES GRU_STATE));
}

#undef TWO
#undef THREE
#undef LOAD
#undef STORE
#undef SET
#undef ADD
#undef SUB
#undef MUL
#undef FMA
#undef FMS
#undef EXP_FALLING
#undef CUT
#undef CUT_TO
#undef GATE
#undef TWICE
#undef TANH
#undef DIVIDE
#undef STORE_H
#undef TILES
#undef RUN
#undef TANH_TILE
#undef LSTM_GATES
#undef LSTM_STATE
#undef GRU_GATES
#undef GRU_STATE

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_CELLS_MVE_H_
