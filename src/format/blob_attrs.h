// blob_attrs.h -- the attributes of every operator, as they lie in the blob: one structure each, named by a node.
// Contract: docs/BLOB_FORMAT.md. Part of blob.h, which includes it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_BLOB_ATTRS_H_
#define RNNPACK_FORMAT_BLOB_ATTRS_H_

#include <stdint.h>

namespace rnnp {

constexpr uint32_t kBlobMaxRank = 8;

// ONNX activations, in ONNX's own order of definition.
enum class Act : uint32_t {
  kIdentity = 0,
  kRelu = 1,
  kTanh = 2,
  kSigmoid = 3,
  kAffine = 4,           // alpha*x + beta
  kLeakyRelu = 5,        // x >= 0 ? x : alpha*x
  kThresholdedRelu = 6,  // x > alpha ? x : 0
  kScaledTanh = 7,       // alpha*tanh(beta*x)
  kHardSigmoid = 8,      // min(max(alpha*x + beta, 0), 1)
  kElu = 9,              // x >= 0 ? x : alpha*(exp(x) - 1)
  kSoftsign = 10,        // x / (1 + |x|)
  kSoftplus = 11,        // log(1 + exp(x))
  kExp = 12,
  kLog = 13,
  kSqrt = 14,
  kAbs = 15,
  kNeg = 16,
  kReciprocal = 17,
  kClip = 18,  // min(max(x, alpha), beta)
  kHardSwish = 19,
  kFloor = 20,
  kCeil = 21,
  // The ones below have no kernels: unary nodes alone may have them.
  kSign = 22,
  kRound = 23,  // halves to the even one
  kErf = 24,
  kGelu = 25,      // x/2 (1 + erf(x / sqrt 2))
  kGeluTanh = 26,  // x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kSin = 27,
  kCos = 28,
};
constexpr Act kLastKernelAct = Act::kCeil, kLastAct = Act::kCos;

struct BlobActivation {
  uint32_t act;  // Act
  float alpha;
  float beta;
};

enum class Cell : uint32_t {
  kRnn = 0,        // 1 gate
  kLstm = 1,       // 4 gates, i o f c
  kGru = 2,        // 3 gates, z r h; linear_before_reset 0
  kGruLinear = 3,  // 3 gates, z r h; linear_before_reset 1
  kLstmNorm = 4,   // 4 gates, i o f c; layer norms of the gates and of c (AttrNormRecurrent)
};

// Cells of four gates, i o f c, and two states.
constexpr bool has_c(Cell cell) {
  return cell == Cell::kLstm || cell == Cell::kLstmNorm;
}

// Where a direction's H initial values lie within a row of init_h or init_c: element i at first + i * stride.
struct BlobStrided {
  uint32_t first;
  uint32_t stride;
};

// Matrices have H units; all of a layer have one format. Vectors per unit have its NR: tiles = ceil(H / NR), G gates.
struct BlobDirection {
  uint32_t w;         // matrix: G gates, I
  uint32_t r;         // matrix: G gates, H; kGru: z r alone
  uint32_t r_output;  // matrix: kGru's gate h, H; else kNone
  uint32_t bias;      // weights offset: [tiles][G][NR], Wb + Rb (kGruLinear: Wb only for gate h)
  uint32_t r_bias;    // weights offset: [tiles][NR], Rb of gate h for kGruLinear; kLstmNorm: [tiles][4][NR], Rb; or kNone
  uint32_t peephole;  // weights offset: [tiles][3][NR], i o f; or kNone
  uint32_t state_h;   // state index
  uint32_t state_c;   // state index, where has_c; else kNone
  uint32_t reverse;   // 1: runs from the last step to the first
  BlobStrided init_h, init_c;
  BlobActivation act[3];  // ONNX order: LSTM f g h, GRU f g, RNN f
};

// Of AttrRecurrent::flags. kMaskedSteps: x has a feature more, the last one; at a step where it is 0 a row keeps its states, and y
// is h.
constexpr uint32_t kInputForget = 1, kMaskedSteps = 2;

struct AttrRecurrent {
  uint32_t cell;
  uint32_t input_size;  // without the mask
  uint32_t hidden_size;
  uint32_t direction_count;  // 1 or 2
  uint32_t flags;            // LSTM: kInputForget couples the gates, f = 1 - i
  float clip;                // > 0: pre-activations are clipped to [-clip, clip]; 0: no clip
  BlobDirection direction[2];
};
constexpr bool has_mask(const AttrRecurrent &a) {
  return (a.flags & kMaskedSteps) != 0;
}
// Of a row of x, with the mask.
constexpr uint32_t x_elems(const AttrRecurrent &a) {
  return a.input_size + (has_mask(a) ? 1 : 0);
}

// An integer-only layer: its matrices are panels of Scales::kIntegerOnly, its biases integers; cells without clip, peepholes and
// flags, of sigmoid and tanh alone.
struct AttrIntegerRecurrent {
  AttrRecurrent layer;
  uint32_t c_bits[2];  // LSTM: fraction bits of each direction's c, 8 to 15; else 0
};
constexpr uint32_t kLeastCBits = 8, kMostCBits = 15;

// The norms of a kLstmNorm, vectors per unit as the layer's: what n(v) = (v - mean) / sqrt(variance + epsilon) is multiplied by,
// and what is added.
struct BlobCellNorm {
  uint32_t x_scale;  // weights offset: [tiles][4][NR]
  uint32_t h_scale;  // the same of R h; kNone: one norm, of W x + R h
  uint32_t bias;     // weights offset: [tiles][4][NR], added behind the norms
  uint32_t c_scale;  // weights offset: [tiles][NR]
  uint32_t c_bias;
  float x_epsilon, h_epsilon, c_epsilon;
};

// Sigmoid and tanh, no clip, peepholes or coupled gates.
struct AttrNormRecurrent {
  AttrRecurrent layer;
  uint32_t by_gate;  // 1: a mean and variance for each gate; 0: over all four
  uint32_t keeps_c;  // 1: the state is c as it is before its norm
  BlobCellNorm norm[2];
};

// A layer that runs over a feature axis, anew in every row: x [steps][rows][I], h and c [directions][rows][H] or absent
// (zeros), y [steps][rows][directions][H], y_h and y_c as h. The layer has no states, and its init_h, init_c say nothing.
struct AttrFeatureRecurrent {
  AttrRecurrent layer;
  uint32_t steps;
  uint32_t rows;
};

// y = act(x * M^T + b): M [O][I], bias [ceil(O/NR)][NR].
struct AttrDense {
  uint32_t input_size;
  uint32_t output_size;
  uint32_t matrix;  // one gate, O units, I; its count divides groups: vector v goes through matrix v / (groups / count)
  uint32_t bias;    // of each matrix, one after the other; kNone: zeros
  BlobActivation act;
  uint32_t groups;  // x and y rows hold `groups` vectors each
};

struct AttrUnary {
  BlobActivation act;
};

// From kEqual on there are no kernels. Comparisons give 1 or 0; kPRelu is a < 0 ? a * b : a.
enum class Binary : uint32_t {
  kAdd = 0,
  kMul = 1,
  kSub = 2,
  kDiv = 3,
  kMin = 4,
  kMax = 5,
  kPow = 6,
  kEqual = 7,
  kLess = 8,
  kLessOrEqual = 9,
  kGreater = 10,
  kGreaterOrEqual = 11,
  kNotEqual = 12,
  kPRelu = 13,
};
constexpr Binary kLastKernelBinary = Binary::kPow;

// y[i] = a[i] op b[i] over the row, with strides: y index is the dense row-major index over dims, each operand's offset is the sum
// of index * stride (elements, 0 broadcasts). An operand that is a kRow or kConst value is the same for all steps.
struct AttrBinary {
  uint32_t op;
  uint32_t rank;
  uint32_t dims[kBlobMaxRank];
  uint32_t a_stride[kBlobMaxRank];
  uint32_t b_stride[kBlobMaxRank];
};

// Row is [outer][axis][inner]; softmax over axis.
struct AttrSoftmax {
  uint32_t outer;
  uint32_t axis;
  uint32_t inner;
  uint32_t log;  // 1: LogSoftmax
};

// y[y_first + sum(i * y_stride)] = x[x_first + sum(i * x_stride)] over dims, within one row. Strides may be negative for x.
struct AttrCopy {
  uint32_t rank;
  uint32_t dims[kBlobMaxRank];
  int32_t x_stride[kBlobMaxRank];
  int32_t y_stride[kBlobMaxRank];
  uint32_t x_first;
  uint32_t y_first;
};

enum class Reduce : uint32_t {
  kSum = 0,
  kMean = 1,
  kMax = 2,
  kMin = 3,
  kProd = 4,
  kL1 = 5,
  kL2 = 6,
  kSumSquare = 7,
  kLogSum = 8,
  kLogSumExp = 9,
};

// For every index over kept_dims, in row-major order: y[n] is the reduction over over_dims of
// x[x_first + sum(kept index * kept_stride) + sum(over index * over_stride)]. kept_rank may be 0: one output.
struct AttrReduce {
  uint32_t op;
  uint32_t x_first;
  uint32_t kept_rank;
  uint32_t kept_dims[kBlobMaxRank];
  int32_t kept_stride[kBlobMaxRank];
  uint32_t over_rank;
  uint32_t over_dims[kBlobMaxRank];
  int32_t over_stride[kBlobMaxRank];
};

// Row is [outer][elems]. For each outer index: y = (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias.
struct AttrNorm {
  uint32_t outer;
  uint32_t elems;
  uint32_t centred;    // 0: the mean is taken as 0 (RMS normalisation)
  uint32_t per_outer;  // scale and bias have 0: one number per element, 1: one per outer index
  float epsilon;
  uint32_t scale;  // weights offset; kNone: ones
  uint32_t bias;   // kNone: zeros
};

// y[n] = condition != 0 ? a : b for every index over dims in row-major order; operand i (condition, a, b) is at
// first[i] + sum(index * stride[i]).
struct AttrWhere {
  uint32_t rank;
  uint32_t dims[kBlobMaxRank];
  int32_t stride[3][kBlobMaxRank];
  uint32_t first[3];
};

struct MatrixStrides {
  uint32_t first;
  int32_t row, column;
  int32_t batch[kBlobMaxRank];
};

// y[index over dims][m][n] = sum over k of a[..][m][k] * b[..][k][n], within a row.
struct AttrMatMul {
  uint32_t m, n, k;
  uint32_t rank;  // of the batch; may be 0
  uint32_t dims[kBlobMaxRank];
  MatrixStrides a, b;
};

// A tensor that the library keeps from step to step; the state has one buffer. In a model that is not causal it begins with zeros
// in every run, where kStateRead has no start, and its state has no initial one.
struct AttrState {
  uint32_t state;
};

// Of a kStateRead that begins a loop: it and the nodes behind it, `nodes` in all, go through a chunk step by step, all of them one
// step before any the next. Every other node goes through the whole chunk. 0: no loop.
struct AttrLoop {
  AttrState read;
  uint32_t nodes;
};

// y is the reduction over all steps since the state began, of each element alone; op: kSum to kProd. The state has one buffer of
// [sums so far: elems][what their rounding lost: elems] and two words, the number of steps, low half first. In a model that is not
// causal it begins anew with every run.
struct AttrTimeReduce {
  uint32_t op;     // Reduce
  uint32_t state;  // index
};

// y's step t of a row is x's step length - 1 - t, its steps behind the length are x's; in models that are not causal.
struct AttrTimeReverse {
  uint32_t reserved;  // 0
};

struct AttrTimeStep {
  uint32_t last;   // 1: the last valid step of the row so far, 0: the first of the run
  uint32_t state;  // index, last in a causal model: that step, of one buffer; else kNone
};

// Up to two feature axes h, w that a window slides over, and channels c, within one row: element (h, w, c) of x lies at
// x_first + h x_stride[0] + w x_stride[1] + c x_stride[2], that of y at y_first + h y_stride[0] + w y_stride[1] + c.
// Tap k of output o reads input o * stride + k * dilation - pad, where there is one, else 0. An axis that is not there has size 1.
struct BlobWindow {
  uint32_t in_size[2];
  uint32_t out_size[2];
  uint32_t kernel[2];
  uint32_t stride[2];
  uint32_t dilation[2];
  int32_t pad[2];
  uint32_t x_first;
  int32_t x_stride[3];
  uint32_t y_first;
  uint32_t y_stride[2];
};

// y = act(bias + sum over time taps, h taps, w taps and channels, in this order), for each group of channels.
// Time tap k of step t reads step t - lead + k * time_dilation. Steps before the run come from the state, a ring of `lead` rows of
// x followed by a word, the place of its oldest row; without a state, and after the end of a row, they are 0.
struct AttrConv {
  BlobWindow window;
  uint32_t time_taps;
  uint32_t time_dilation;
  int32_t lead;
  uint32_t state;  // state index, elems lead * row + 1; or kNone
  uint32_t groups;
  uint32_t in_channels;   // of one group
  uint32_t out_channels;  // of one group
  // One gate. Per group a matrix of O = out_channels units, k = time taps x kernel x in_channels; or, with one channel in and out
  // per group, one matrix of all groups as units and taps as k, in a format of NR 0. Or the points of F(2x2, 3x3) or F(2, 3)
  // (pack/winograd.h).
  uint32_t matrix;
  uint32_t bias;  // weights offset: per matrix [ceil(O/NR)][NR]; kNone: zeros
  BlobActivation act;
  // 0: y's channels lie side by side. Else each is a plane of out_size[0] lines of out_size[1] elements, so many, one behind the
  // other; of one group, without time taps, lead and state, of stride 1 along w, in f32.
  uint32_t y_plane;
};

// y holds, for each of the row's `count` indices, that row of the table [rows][elems].
struct AttrGather {
  uint32_t rows;
  uint32_t elems;
  uint32_t count;
  uint32_t table;  // weights offset
};

enum class Pool : uint32_t { kMax = 0, kAverage = 1 };

// y = largest or mean of the window's elements; the mean counts those inside x and, up to `counted` elements before and after it,
// zeros as well.
struct AttrPool {
  BlobWindow window;
  uint32_t pool;  // Pool
  uint32_t channels;
  uint32_t counted_before[2], counted_after[2];
};

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_BLOB_ATTRS_H_
