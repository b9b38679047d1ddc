// kernels.h -- contracts of the micro-kernels and the table row by which they are chosen.
// Room: kernels see base, format/blob.h's enums and pack's headers, nothing else: no libc, no globals, no CPU queries, no status.
//
// For every kernel: pure and reentrant; sizes > 0 unless said; strides in bytes and >= the row; operands disjoint unless said;
// panels and per-unit vectors 64-byte aligned and zero-padded to NR; x, h, y, preact rows need element alignment only.
// k ascends with one accumulator per output starting at the given initial value, so bits depend neither on rows, tiles per
// call, chunk nor threads. No read beyond a row's elements (h: exactly H), no write beyond what is stated. Round-to-nearest;
// the runtime has denormals flushed (base/fpenv.h) while kernels run.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_KERNELS_H_
#define RNNPACK_KERNELS_KERNELS_H_

#include <stddef.h>
#include <stdint.h>

#include "format/blob.h"
#include "pack/panel_view.h"

namespace rnnp {

// Part of the factors of all rows: `k` of row m at a + m * row_bytes.
struct GemmTap {
  const float *a;
  size_t row_bytes;  // 0: the same for all rows
  uint32_t k;
};

// --- gemm: rows against panels of any format --------------------------------------------------------------------------------
// out[m][tile][g][n] = start[m][tile][g][n] + sum_k a[m][k] * panel[tile][k][g][n]     for tile in [tile_begin, tile_end)
// G is the matrix's gates. With `units` != 0 (dense, G = 1) out is an unpadded row of `units` floats: columns tile*NR+n >= units
// are not written. out may be start. Panels of bytes and less: docs/KERNELS.md says what their rows are quantised to and what is
// summed.
// kGemmDot, in the order of TDPBF16PS: a is rounded to bf16 (to nearest, halves to even; denormals are zeros of their sign), K is
// filled up with zeros to whole blocks of kDotBlock. Each block has two accumulators from 0, of its even and of its odd k,
// ascending; then out += even + odd. A product of two bf16 is exact unless it leaves the range of f32, so that kernels without a
// fused multiply-add give the same bits but there.
struct GemmArgs {
  uint8_t start_tile, out_tile;  // floats from tile to tile; 0: G*NR
  bool in_parts;                 // of one gate and f32 alone
  bool prepared;  // scratch holds these rows from the call before, kQuantisedRows at most; a kernel may prepare them again
  PanelView w;
  union {
    const float *a;       // [rows][k]
    const GemmTap *taps;  // where in_parts is set: the parts of rows, one behind the other, `k` in all
  };
  size_t a_row_bytes;  // may be less than a row: windows that overlap
  void *scratch;       // lhs_scratch_bytes of pack/panel_format.h, 64-byte aligned
  union {
    const float *start;      // tile 0's columns of row 0; nullptr: zeros
    const int32_t *start_q;  // of integer-only layers, never nullptr
  };
  size_t start_row_bytes;  // 0: all rows start from the same, as they must where start is nullptr
  union {
    float *out;      // tile 0's columns of row 0
    int32_t *out_q;  // of integer-only layers
  };
  size_t out_row_bytes;
  uint32_t rows;  // 0: a kernel of tiles touches them, once in each thread, and does nothing else
  uint32_t tile_begin, tile_end;
  uint32_t units;  // 0: out padded to whole tiles
};
using GemmFn = void (*)(const GemmArgs *);
constexpr uint32_t kDotBlock = 32;

// --- recur: one step of one layer and direction, pre-activations and cell in registers ------------------------------------
// For tiles [tile_begin, tile_end) and rows 0..rows-1:
//   acc[g][n]  = x ? bias[tile][g][n] + sum_k x[m][k] * w[tile][k][g][n]  :  preact[m][tile][g][n]
//   acc[g][n] += sum_k h_prev[m][k] * r[tile][k][g][n], k < recurrent_k: H, or 0 where a gemm has added it to preact
//   cell (ONNX's equations), h_next[m][tile*NR+n] and, for y, the first H columns only: y[m][unit] = the same value
//   kGruLinear: gate h's recurrent sum starts at r_bias[m][tile][n] in an accumulator of its own (it is multiplied by r).
//   kGru is two kernels: kGruGates gives z and r*h (z to `z`, r*h to `rh`, both [rows][h_row_bytes]); after a barrier kGruOutput
//   finishes gate h from `rh`, `z`, h_prev. preact has all three gates for both; r panels are [tiles][H][2][NR] and
//   [tiles][H][1][NR]; x must be null.
// h_next, z, rh, c rows are padded to whole tiles; padded lanes may be written with anything.
struct CellParams {
  BlobActivation act[3];
  float clip;  // 0: none
  uint32_t input_forget;
};

// Integer-only layers: preact, r_bias and z hold integers, in the members that end in _q.
struct IntegerCell {
  uint8_t nr;      // NR of preact
  uint8_t c_bits;  // c's fraction bits, 8 to 15
};

struct CellNorm;  // of a kLstmNorm (ops/lstm_norm.cpp)

struct RecurArgs {
  const float *r;     // tile 0's R panel
  const float *w;     // tile 0's W panel, used when x != nullptr
  const float *bias;  // [tiles][G][NR], used when x != nullptr
  union {
    const float *r_bias;  // [tiles][NR], kGruLinear only
    const int32_t *r_bias_q;
  };
  size_t r_bias_row_bytes;  // 0: the same for all rows
  union {
    const float *peephole;  // [tiles][3][NR] (i o f) or nullptr, kLstm generic kernels only
    const CellNorm *norm;
  };
  union {
    const float *preact;  // row 0, tile 0; tiles G*NR floats apart
    const int32_t *preact_q;
  };
  size_t preact_row_bytes;
  const float *x;  // [rows][input_size] or nullptr
  size_t x_row_bytes;
  const float *h_prev;  // [rows][H], read only
  float *h_next;        // [rows][tiles*NR], not h_prev
  float *c;             // [rows][tiles*NR], in place, kLstm only
  union {
    float *z;  // kGru only
    int32_t *z_q;
  };
  float *rh;               // kGru only
  size_t state_row_bytes;  // of h_prev, h_next, c, z, rh
  float *y;                // [rows][H] or nullptr
  size_t y_row_bytes;
  uint32_t rows;
  uint32_t input_size;
  uint32_t hidden_size;
  uint32_t recurrent_k;  // hidden_size, or 0: r is not read
  uint32_t tile_begin, tile_end;
  uint32_t steps;      // above 1, where Kernel::runs_steps: so many steps of the one row, from one to the next as from row to row
  uint8_t descending;  // 1: sweep tiles from tile_end - 1 down to tile_begin (same bits; keeps the last ones in cache)
  bool prefetch_next_tile;  // the R panels lie beyond L2: the next tile's is asked for while this one is used (same bits)
  IntegerCell integer;
  CellParams cell;  // read by generic kernels only
};
using RecurFn = void (*)(const RecurArgs *);

// --- act: y[i] = f(x[i]), in place allowed, any alignment, n may be 0 -------------------------------------------------------
// Bounds against f64 are stated in docs/KERNELS.md; monotone; saturating; NaN in gives NaN out.
struct ActArgs {
  const float *x;
  float *y;
  size_t n;
  BlobActivation act;
};
using ActFn = void (*)(const ActArgs *);

// --- binary and softmax ------------------------------------------------------------------------------------------------------
// y[r][i] = a[r * a_row + i * a_step] op b[r * b_row + i * b_step] for n elements of each row; steps 0 or 1; y is packed, and may
// be a or b where that is packed too, or repeats the one element that there is.
struct BinaryArgs {
  const float *a;
  const float *b;
  float *y;
  size_t n;
  uint32_t a_step, b_step;
  uint32_t op;  // Binary
  uint32_t rows;
  size_t a_row, b_row;
};
using BinaryFn = void (*)(const BinaryArgs *);

// y[i*stride] = softmax over n elements of x[i*stride] (stride in elements); in place allowed; log 1 gives log-softmax.
struct SoftmaxArgs {
  const float *x;
  float *y;
  uint32_t n;
  uint32_t stride;
  uint32_t log;
};
using SoftmaxFn = void (*)(const SoftmaxArgs *);

// --- depthwise: each channel by itself ---------------------------------------------------------------------------------------
// y[c] = start[c] + sum over taps of w[tap][c] * x[tap][c]; taps ascending, one accumulator per channel.
struct DepthwiseArgs {
  const float *const *x;  // [taps] rows of channels
  const float *const *w;  // [taps]
  const float *start;     // nullptr: zeros
  float *y;
  uint32_t taps;  // may be 0
  uint32_t channels;
};
using DepthwiseFn = void (*)(const DepthwiseArgs *);

// --- matmul: two matrices that are both made at run time ---------------------------------------------------------------------
// y[i][j] = sum over k of a[i][k] b[k][j]; y is packed, [m][n]. Strides in floats, of any sign; those of an axis of one are not
// read. Where columns of b lie side by side each output is one chain from 0, k ascending; else, k belonging to lane k mod 16, a
// chain of each lane from 0, and lanes are joined in halves: l and l + 8, then l + 4, l + 2, l + 1. One column is taken as one row:
// y is then b' a' with the sides changed.
struct MatMulArgs {
  const float *a, *b;
  float *y;
  ptrdiff_t a_row, a_column, b_row, b_column;
  uint32_t m, n, k;
};
using MatMulFn = void (*)(const MatMulArgs *);

constexpr uint32_t kMatMulLanes = 16;

// The same product with more than one column, where it has more than one result.
static inline MatMulArgs with_columns(const MatMulArgs &t) {
  if (t.n != 1) return t;
  return {t.b, t.a, t.y, t.b_column, t.b_row, t.a_column, t.a_row, 1, t.m, t.k};
}
static inline bool lanes_are_columns(const MatMulArgs &t) {
  return t.n > 1 && t.b_column == 1;
}

// --- conv_nchw: convolution whose elements lie channel by channel ----------------------------------------------------------
// Channels of x become lines with zeros around them. Then y[u][line][column] = start[u] + sum over k of
// lines[taps[k] + line * line_step + column] * panel[k][u], k ascending, in one chain. Panels of f32 are [tiles][k][nr], nr a
// multiple of kPlaneUnits.
constexpr uint32_t kPlaneUnits = 4, kPlaneSlack = 16;

// Strides in floats, of any sign.
struct PlaneLines {
  const float *x;  // its first element that becomes one of the lines
  ptrdiff_t x_channel, x_line, x_column;
  uint32_t channels, lines, columns;
  uint32_t before, between, after;  // zeros of a channel before its first line, from one to the next and behind the last
  // Where it is not 0: floats from a channel's line to the next one's. Each has one, `before` floats on, and no zeros around it.
  uint32_t apart;
};

// What follows the sums of all units' planes, all of y's form and of one line: y = act(sums + second + add), sum = y + other.
struct AfterSums {
  const float *lines;  // of the second product; where its k is 0 there is none
  const uint32_t *taps;
  const float *panels, *start;
  uint32_t k, nr;
  const float *add;  // nullptr: nothing
  size_t add_plane;
  ActFn act;  // nullptr: the identity
  BlobActivation how;
  const float *other;  // nullptr: there is no sum
  float *sum;
};

struct ConvNchwArgs {
  PlaneLines from;       // of no channels: the lines are there, and nothing is written
  float *lines;          // and kPlaneSlack floats behind them, any of which are written
  const uint32_t *taps;  // [k]
  const float *panels;
  const float *start;  // of whole tiles, or nullptr: zeros
  float *y;            // lines are packed, planes y_plane elements apart
  size_t line_step, y_plane;
  uint32_t k, y_lines, y_columns;
  uint32_t nr;
  uint32_t unit_begin, unit_end;  // begin: a multiple of kPlaneUnits
  const AfterSums *after;         // nullptr: nothing
  // It follows: pointwise, of all y, whose lines have whole vectors then, with `add` alone behind its sums; nullptr: nothing.
  // `inner`: y is for it alone, and need not be written.
  const ConvNchwArgs *then;
  bool inner;
};
using ConvNchwFn = void (*)(const ConvNchwArgs *);

// --- conv_winograd: 3x3 windows of planes that move by one, by F(2x2, 3x3) ---------------------------------------------------
// A tile is 2 x 2 elements of y; D is the 4 x 4 of x under it, its first the element (2 line - pad[0], 2 column - pad[1]), zeros
// where there are none. Each operation is rounded:
//   V: rows of D become d0 - d2, d1 + d2, d2 - d1, d1 - d3, then columns of that the same; point p is 4 row + column.
//   M[p] = sum over channels of V[p] * panel[p][channel][u], ascending, in one chain; from start[u] at kWinogradStart, 0 elsewhere.
//   y[u]: columns of M become (m0 + m1) + m2 and (m1 - m2) - m3, then rows of that the same.
// Panels of f32 are [tiles of units][16 points][channels][nr], nr a multiple of kPlaneUnits.
constexpr uint32_t kWinogradStart = 5;
// Tiles and lines of them that are computed together, at most; a line that has more goes in parts.
constexpr uint32_t kWinogradTiles = 32, kWinogradLines = 8;

struct ConvWinogradArgs {
  const float *x;  // element (0, 0) of channel 0; columns lie side by side, the strides of others in floats
  ptrdiff_t x_channel, x_line;
  uint32_t x_lines, x_columns, channels;
  int32_t pad[2];
  const float *panels;
  const float *start;  // of whole panels, or nullptr: zeros
  float *y;            // element (0, 0) of unit 0; lines are packed, planes y_plane elements apart
  size_t y_plane;
  uint32_t y_lines, y_columns, units, nr;
  uint32_t line_begin, line_end;  // of tiles
  float *scratch;                 // winograd_scratch floats
};
using ConvWinogradFn = void (*)(const ConvWinogradArgs *);

// --- The table -----------------------------------------------------------------------------------------------------------------
enum class KernelFamily : uint32_t {
  kGemm = 1,    // one gate: dense, convolution, the input's part of a kRnn; of formats other than f32 any number of gates
  kGemm3,       // of a kGru
  kGemm4,       // of a kLstm
  kRnnTanh,     // recur, kRnn with tanh, no clip
  kRnnRelu,     // recur, kRnn with relu, no clip
  kRnnGeneric,  // recur, kRnn, any activation and clip
  kLstm,        // recur, sigmoid tanh tanh, no clip, no peephole, no input_forget
  kLstmGeneric,
  kGruLinear,  // recur, sigmoid tanh, no clip
  kGruLinearGeneric,
  kGruGates,  // recur, sigmoid, no clip
  kGruGatesGeneric,
  kGruOutput,  // recur, tanh, no clip
  kGruOutputGeneric,
  kAct,
  kBinary,
  kSoftmax,
  kActPlain,  // identity, relu, tanh and sigmoid only: a few hundred bytes where kAct is thousands; same bits as kAct
  kDepthwise,
  kMatMul,
  kConvNchw,
  kConvWinograd,
// Products with panels of other kinds.
#define RNNPACK_GEMM_FAMILY(name) name,
#include "pack/panel_formats.inc"
#undef RNNPACK_GEMM_FAMILY
};

// The gates of a gemm, and the gemm of so many gates. A family each, so that a program links the register blocks of its cells
// alone.
constexpr uint32_t gemm_gates(KernelFamily family) {
  return family == KernelFamily::kGemm3 ? 3 : family == KernelFamily::kGemm4 ? 4 : 1;
}
constexpr KernelFamily gemm_family(uint32_t gates) {
  return gates == 3 ? KernelFamily::kGemm3 : gates == 4 ? KernelFamily::kGemm4 : KernelFamily::kGemm;
}

// One row: a function, what it computes, the layout it reads and the CPU bits it needs. Rows are constants, one object each,
// so that firmware can name the rows it wants and link no others.
struct Kernel {
  KernelFamily family;
  DType dtype;
  uint32_t nr;   // tile width it reads; 0: any (act, binary, softmax)
  uint32_t isa;  // RNNP_ISA_* bits the CPU must have; 0: none
  const char *name;
  bool runs_steps;  // recur: takes RecurArgs::steps; h_prev and h_next change places after each, both may be written
  union {
    GemmFn gemm;
    RecurFn recur;
    ActFn act;
    BinaryFn binary;
    SoftmaxFn softmax;
    DepthwiseFn depthwise;
    MatMulFn matmul;
    ConvNchwFn conv_nchw;
    ConvWinogradFn conv_winograd;
  };

  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, GemmFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), gemm(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, RecurFn fn, bool steps = false)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(steps), recur(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, ActFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), act(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, BinaryFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), binary(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, SoftmaxFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), softmax(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, DepthwiseFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), depthwise(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, MatMulFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), matmul(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, ConvNchwFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), conv_nchw(fn) {}
  constexpr Kernel(KernelFamily f, DType d, uint32_t n, uint32_t bits, const char *label, ConvWinogradFn fn)
      : family(f), dtype(d), nr(n), isa(bits), name(label), runs_steps(false), conv_winograd(fn) {}
};

// A list of rows, best first; the first supported row of the asked family, dtype and nr wins.
struct KernelList {
  const Kernel *const *rows;
  uint32_t count;
};

// All kernels of this build, best first (kernels.inc). Defined in kernel_list.cpp.
extern const KernelList kAllKernels;

// Lists that are searched one after the other: what a registry brings (rnnpack/registry.h).
struct KernelGroups {
  const KernelList *const *lists;
  uint32_t count;
};
const Kernel *find_kernel(const KernelGroups &groups, KernelFamily family, DType dtype, uint32_t nr, uint32_t isa);

// The first row of `list` that fits and needs no bit outside `isa`; nullptr when there is none.
const Kernel *find_kernel(const KernelList &list, KernelFamily family, DType dtype, uint32_t nr, uint32_t isa);

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_KERNELS_H_
