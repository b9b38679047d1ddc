// lstm_vfpv4.h -- the plain LSTM cell in the Arm scalar FPU: the operations and bits of LstmCell (cell_body.h), the four gates side
// by side. Room: kernels; included once by recur_vfpv4.cpp. Touches what LstmTiles points to. Why so: compilers spend a third of a
// cell's instructions on cutting arguments to their range and on constants. Sizes are compared as integers here, all gates' at
// once, and one load brings the constants that multiply-adds are added to. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_CELLS_VFPV4_H_
#define RNNPACK_KERNELS_CELLS_VFPV4_H_

#include "kernels/math_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// What multiply-adds of four gates are added to: as often as there are gates, then once. Then factors.
struct CellConstants {
  float round[4], exp2[4], exp4[4];
  float once[3];
  float log2e, ln2, exp3, exp5, exp6, one, round_biased;
};
constexpr CellConstants kCellConstants = {{kRoundBiased, kRoundBiased, kRoundBiased, kRoundBiased},
                                          {kExp2, kExp2, kExp2, kExp2},
                                          {kExp4, kExp4, kExp4, kExp4},
                                          {kRoundBiased, kExp2, kExp4},
                                          kLog2E,
                                          kLn2Hi,
                                          kExp3,
                                          kExp5,
                                          kExp6,
                                          1.0f,
                                          kRoundBiased};

// The cells of some tiles of a row: their pre-activations, c, h_next and y. The assembler knows the order.
struct LstmTiles {
  const float *pre;  // gates are four floats apart
  float *c, *h, *y;
  size_t units, tiles;  // of a tile, 1 to 4
  const CellConstants *constants;
};

// Assembler text. EXP: from x (a gate's pre-activation, cut; twice tanh's, without the sign) frac and, in its place, the scale of
// exp_falling<1>; `biased`, `a` and `b` hold kRoundBiased, kExp2 and kExp4. PLUS_ONE, MINUS_ONE: one_plus, minus_one.
#define EXP(x, biased, a, b, t0, t1)                                                                                           \
  "vfms.f32 " biased ", " x ", s16\n\tvsub.f32 " t0 ", " biased ", s22\n\tvfma.f32 " x ", " t0 ", s17\n\tvmul.f32 " t1 ", " x  \
  ", " x "\n\tvfms.f32 " a ", " x ", s18\n\tvfms.f32 " b ", " x ", s19\n\tvfma.f32 " b ", " t1 ", s20\n\tvfnms.f32 " x ", " t1 \
  ", " a "\n\tvmul.f32 " t1 ", " t1 ", " t1 "\n\tvfma.f32 " x ", " t1 ", " b "\n\t"
#define SCALES(biased0, biased1) \
  "vmov r4, r5, " biased0 ", " biased1 "\n\tlsl r4, r4, #23\n\tlsl r5, r5, #23\n\tvmov " biased0 ", " biased1 ", r4, r5\n\t"
#define PLUS_ONE(to, scale, frac) "vadd.f32 " to ", " scale ", s21\n\tvfma.f32 " to ", " scale ", " frac "\n\t"
#define MINUS_ONE(to, scale, frac) "vsub.f32 " to ", " scale ", s21\n\tvfma.f32 " to ", " scale ", " frac "\n\t"
// The sign of the float in r12.
#define SIGN(x) "cmp r12, #0\n\tvabs.f32 " x ", " x "\n\tit mi\n\tvnegmi.f32 " x ", " x "\n\t"
// The float in a core register, cut to the limit that another has twice, as a third has an infinity; a NaN stays one. All bits but
// the sign are compared.
#define CUT(x, limit, infinity, next)                                                                                  \
  "cmp " limit ", " x ", lsl #1\n\tbhs " next "f\n\tcmp " infinity ", " x ", lsl #1\n\tblo " next "f\n\tand " x ", " x \
  ", #0x80000000\n\torr " x ", " x ", " limit ", lsr #1\n" next ":\n\t"

#define LIMITS "vmov.f32 s0, #30.0\n\tvmov.f32 s1, #15.0\n\tvmov r8, r9, s0, s1\n\tlsl r8, r8, #1\n\tlsl r9, r9, #1\n"
// Of x the parts of tanh, s9 over s7; TANH_CUT is where sizes above 15 go. `once`: the constants' address.
#define TANH(x, once)                                                                                                   \
  "vmov r12, " x "\n\tvabs.f32 s0, " x "\n\tcmp r9, r12, lsl #1\n\tblo 4f\n5:\n\tvadd.f32 s0, s0, s0\n\tvldmia " once   \
  ", {s4-s6}\n\t" EXP("s0", "s4", "s5", "s6", "s7", "s8") "vmov r4, s4\n\tlsl r4, r4, #23\n\tvmov s4, r4\n\t" PLUS_ONE( \
      "s7", "s4", "s0") MINUS_ONE("s9", "s4", "s0") SIGN("s9")
#define TANH_CUT "4:\n\tmov r4, #0xff000000\n\tcmp r4, r12, lsl #1\n\tit hs\n\tvmovhs.f32 s0, #15.0\n\tb 5b\n"
// Fewer cells are left; `step` takes pointers to the next tile.
#define NEXT_TILE(step) \
  "vmov r4, s23\n\tand r10, r4, #7\n\t" step "sub r4, r4, #8\n\tvmov s23, r4\n\tcmp r4, #8\n\tbhs 1b\n\tb 8f\n"
#define CLOBBERS                                                                                                                 \
  "cc", "memory", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3", "s4", "s5", \
      "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23",  \
      "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

RNNPACK_NOINLINE void lstm_tiles(const LstmTiles *tiles) {
  register const LstmTiles *at __asm__("r0") = tiles;
  __asm__ volatile(
      "ldm r0, {r0, r1, r2, r3, r5, r6, lr}\n\tmov r10, r5\n\torr r5, r5, r6, lsl #3\n\tvmov s23, r5\n\tadd r11, lr, #48\n\tadd "
      "r4, lr, #60\n\t"
      "vldmia r4, {s16-s22}\n\t" LIMITS
      "1:\n\tldr r5, [r0, #16]\n\tldr r6, [r0, #32]\n\tldr r12, [r0, #48]\n\tldr r4, [r0], #4\n\t"
      "cmp r8, r4, lsl #1\n\tittt hs\n\tcmphs r8, r5, lsl #1\n\tcmphs r8, r6, lsl #1\n\tcmphs r9, r12, lsl #1\n\tblo 3f\n"
      "2:\n\tvmov s0, s1, r4, r5\n\tvmov s2, s3, r6, r12\n\tvabs.f32 s3, s3\n\tvadd.f32 s3, s3, s3\n\tvldmia lr, {s4-s15}\n\t" EXP(
          "s0", "s4", "s8", "s12", "s24", "s28") EXP("s1", "s5", "s9", "s13", "s25", "s29")
          EXP("s2", "s6", "s10", "s14", "s26", "s30") EXP("s3", "s7", "s11", "s15", "s27", "s31") SCALES("s4", "s5")
              SCALES("s6", "s7") PLUS_ONE("s24", "s4", "s0") PLUS_ONE("s25", "s5", "s1") PLUS_ONE("s26", "s6", "s2")
                  PLUS_ONE("s27", "s7", "s3") MINUS_ONE("s28", "s7", "s3") SIGN("s28")
      // c' = (c d_i m_g + n_g d_f) / (d_i m_g d_f)
      "vmul.f32 s24, s24, s27\n\tvmul.f32 s28, s28, s26\n\tvldr s29, [r1]\n\tvfma.f32 s28, s29, s24\n\tvmul.f32 s24, s24, s26\n\t"
      "vdiv.f32 s28, s28, s24\n\tvstmia r1!, {s28}\n\t" TANH("s28", "r11")
      // h' = n_C' / (m_C' d_o)
      "vmul.f32 s7, s7, s25\n\tvdiv.f32 s9, s9, s7\n\tvstmia r2!, {s9}\n\tvstmia r3!, {s9}\n\tsubs r10, r10, #1\n\tbne "
      "1b\n\t" NEXT_TILE("add r0, r0, #48\n\t") "3:\n\tmov lr, #0xff000000\n\t" CUT("r4", "r8", "lr", "91")
          CUT("r5", "r8", "lr", "92") CUT("r6", "r8", "lr", "93") CUT("r12", "r9", "lr", "94") "sub lr, r11, #48\n\tb 2b\n" TANH_CUT
                                                                                               "8:"
      : "+r"(at)
      :
      : CLOBBERS);
}

// The same of a GRU.
struct GruTiles {
  const float *gates;      // z and, four floats on, r; from tile to tile twelve floats
  const float *recurrent;  // gate h's part of R, side by side
  const float *input;      // and its part of W, twelve floats from tile to tile
  const float *h_prev;
  float *h, *y;
  size_t units, tiles;
  const CellConstants *constants;
};

RNNPACK_NOINLINE void gru_tiles(const GruTiles *tiles) {
  register const GruTiles *at __asm__("r0") = tiles;
  __asm__ volatile(
      "ldr lr, [r0, #32]\n\tldrd r4, r5, [r0, #24]\n\tmov r10, r4\n\torr r5, r4, r5, lsl #3\n\tvmov s23, r5\n\tldr r6, [r0, "
      "#16]\n\tldr r11, [r0, #20]\n\tldm r0, {r0, r1, r2, r3}\n\tadd r4, lr, #60\n\tvldmia r4, {s16-s22}\n\t" LIMITS
      "1:\n\tldr r5, [r0, #16]\n\tldr r4, [r0], #4\n\tcmp r8, r4, lsl #1\n\tit hs\n\tcmphs r8, r5, lsl #1\n\tblo 3f\n"
      "2:\n\tvmov s0, s1, r4, r5\n\tvldmia lr, {s4-s15}\n\t" EXP("s0", "s4", "s8", "s12", "s24", "s28")
          EXP("s1", "s5", "s9", "s13", "s25", "s29") SCALES("s4", "s5") PLUS_ONE("s24", "s4", "s0") PLUS_ONE("s25", "s5", "s1")
      // n = tanh(x_h + R_h h / d_r)
      "vldmia r1!, {s28}\n\tvdiv.f32 s28, s28, s25\n\tvldmia r2!, {s29}\n\tvadd.f32 s28, s29, s28\n\t"
      "add r5, lr, #48\n\t" TANH("s28", "r5")
      // h' = ((d_z - 1) n + h m_n) / (d_z m_n)
      "vldmia r3!, {s29}\n\tvmul.f32 s29, s29, s7\n\tvsub.f32 s28, s24, s21\n\tvfma.f32 s29, s28, s9\n\tvmul.f32 s7, s24, s7\n\t"
      "vdiv.f32 s29, s29, s7\n\tvstmia r6!, {s29}\n\tvstmia r11!, {s29}\n\tsubs r10, r10, #1\n\tbne 1b\n\t" NEXT_TILE(
          "add r0, r0, #32\n\tadd r2, r2, #32\n\t") "3:\n\tmov r12, #0xff000000\n\t" CUT("r4", "r8", "r12", "91")
          CUT("r5", "r8", "r12", "92") "b 2b\n" TANH_CUT "8:"
      : "+r"(at)
      :
      : CLOBBERS);
}
#undef EXP
#undef SCALES
#undef PLUS_ONE
#undef MINUS_ONE
#undef SIGN
#undef CUT
#undef LIMITS
#undef NEXT_TILE
#undef TANH
#undef TANH_CUT
#undef CLOBBERS

// Rows of a step whose pre-activations are whole go through all tiles at once; others tile by tile, behind their products.
struct CellRow {
  const RecurArgs *args;
  size_t row, tile, units, tiles;
  float *h() const { return offset_bytes(args->h_next, row * args->state_row_bytes) + tile * 4; }
  float *y() const { return args->y == nullptr ? h() : offset_bytes(args->y, row * args->y_row_bytes) + tile * 4; }
  const float *preact() const { return offset_bytes(args->preact, row * args->preact_row_bytes); }
};

struct LstmRow : CellRow {
  RNNPACK_INLINE void run(bool together) const {
    float sums[16];
    const float *pre = sums;
    if (together) {
      pre = preact() + tile * 16;
    } else {
      tile_products<LstmCell::Shape, 4>(args, row, tile, sums, nullptr);
    }
    const LstmTiles part = {
        pre, offset_bytes(args->c, row * args->state_row_bytes) + tile * 4, h(), y(), units, tiles, &kCellConstants};
    lstm_tiles(&part);
  }
};

struct GruLinearRow : CellRow {
  RNNPACK_INLINE void run(bool together) const {
    float sums[12], own[4];
    GruTiles part = {sums,  sums + 8, nullptr,        offset_bytes(args->h_prev, row * args->state_row_bytes) + tile * 4, h(), y(),
                     units, tiles,    &kCellConstants};
    if (together) {
      part.gates = preact() + tile * 12;
      part.input = part.gates + 8;
      part.recurrent = offset_bytes(args->r_bias, row * args->r_bias_row_bytes) + tile * 4;
    } else {
      part.input = tile_products<GruLinearCell::Shape, 4>(args, row, tile, sums, own);
    }
    gru_tiles(&part);
  }
};

template <class Row, int kNr>
void recur_rows(const RecurArgs *args) {
  static_assert(kNr == 4, "gates are four floats apart");
  const bool together = args->x == nullptr && args->recurrent_k == 0;
  const size_t whole = args->hidden_size / kNr, end = args->tile_end < whole ? args->tile_end : whole;
  for (size_t row = 0; row < args->rows; ++row) {
    for (size_t tile = args->tile_begin; tile < args->tile_end;) {
      const size_t tiles = together && tile < end ? end - tile : 1;
      Row part;
      static_cast<CellRow &>(part) = {args, row, tile, tile < whole ? kNr : args->hidden_size - tile * kNr, tiles};
      part.run(together);
      tile += tiles;
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_CELLS_VFPV4_H_
