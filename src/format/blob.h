// blob.h -- every structure of the blob, the one thing that crosses from host to device.
// Contract: docs/BLOB_FORMAT.md. All integers little-endian; all offsets in bytes from the blob's first byte; no pointers.
// Records are plain arrays at 8-byte aligned offsets, weights at 64-byte aligned ones, so they are used where they lie.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_BLOB_H_
#define RNNPACK_FORMAT_BLOB_H_

#include <stdint.h>

#include "base/dtype.h"

namespace rnnp {

constexpr uint32_t kBlobMagic = 0x504e4e52u;  // the bytes "RNNP"
constexpr uint32_t kBlobVersion = 4;
constexpr uint32_t kBlobAlign = 64;
constexpr uint32_t kNone = 0xffffffffu;  // "no value", "no offset"
constexpr uint32_t kBlobMaxRank = 8;
constexpr uint32_t kBlobMaxNodes = 4096;
constexpr uint32_t kBlobMaxValues = 16384;
constexpr uint32_t kBlobMaxStates = 16384;
constexpr uint32_t kBlobMaxMatrices = 65536;
constexpr uint32_t kBlobMaxNodeInputs = 16;
constexpr uint32_t kBlobMaxNodeOutputs = 4;

struct BlobSection {
  uint32_t offset;
  uint32_t bytes;
};

// A section of records holds bytes / sizeof(record) of them.
struct BlobHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t header_bytes;  // sizeof(BlobHeader)
  uint32_t file_bytes;
  uint32_t align;        // of the blob's first byte
  uint32_t flags;        // BlobFlags
  uint32_t tables_crc;   // CRC-32 (IEEE) of header (this field and weights_crc as 0) and of all bytes before weights.offset
  uint32_t weights_crc;  // CRC-32 of the weights section
  uint64_t model_id;     // FNV-1a 64 of the canonical (unpacked) graph and weights
  uint64_t macs_per_step;
  uint32_t fixed_batch;          // 0 or the one batch
  uint32_t panel_format;         // that the model was compiled for: what every matrix has unless it asks for another
  uint32_t reserved;             // 0
  uint32_t sequence_pool_elems;  // f32 elements per (step, row) that all sequence values share
  uint32_t row_pool_elems;       // f32 elements per row that all row values share
  uint32_t stream_steps;         // 0, or the steps per call it was compiled for: a session's chunk unless asked otherwise
  BlobSection values;            // BlobValue
  BlobSection nodes;             // BlobNode
  BlobSection args;              // uint32_t value indices, kNone for an absent one
  BlobSection inputs;            // BlobIo
  BlobSection outputs;           // BlobIo
  BlobSection states;            // BlobState
  BlobSection matrices;          // BlobMatrix
  BlobSection attrs;             // the nodes' attribute structures, each 8-byte aligned
  BlobSection strings;           // NUL-terminated, UTF-8
  BlobSection weights;           // last section; everything in it 64-byte aligned
};

enum BlobFlags : uint32_t {
  kBlobCausal = 1u << 0,    // may be run in pieces
  kBlobStepwise = 1u << 1,  // causal, and chunks are of one step: it has kStateRead and kStateWrite nodes
};

// Where a value lives and how often it changes.
enum class ValueKind : uint32_t {
  kSequence = 0,  // one row per (step, batch row): [steps][batch][row_elems]
  kRow = 1,       // one row per batch row: [batch][row_elems], made once per run
  kConst = 2,     // [row_elems] in the weights section, the same for all rows and steps
  kInput = 3,     // a model input; its kind of rows is the BlobIo's role
};

struct BlobValue {
  uint32_t kind;
  uint32_t dtype;
  uint32_t row_elems;  // features of one row, > 0
  uint32_t location;   // kSequence, kRow: elements into the pool, per row; kConst: weights offset; kInput: input index
  uint32_t sequence;   // 1 when the value has one row per step (kSequence, or an input of role sequence)
  uint32_t early;      // kRow: 1 when it is made in the first chunk of a run, from inputs and constants; 0: in the last
};

// role: RNNP_ROLE_* of the public header. dims: ONNX axes in ONNX order, RNNP_DIM_STEPS, RNNP_DIM_BATCH or a constant.
struct BlobIo {
  uint32_t name;   // strings offset
  uint32_t value;  // index
  uint32_t role;
  uint32_t rank;
  int32_t dims[kBlobMaxRank];
  uint32_t limit;  // i32 inputs per step: indices lie in [-limit, limit); 0 for all others
  uint32_t reserved;
};

// State that outlives a run: [batch][elems], f32 but for the last `words` of each row, which are u32. buffers: 2 when a step reads
// the old while it writes the new, else 1. init: weights offset of [elems], or of [fixed_batch][elems] when per_row is 1.
struct BlobState {
  uint32_t elems;
  uint32_t init;  // kNone: zeros
  uint32_t per_row;
  uint32_t name;  // strings offset
  uint32_t buffers;
  uint32_t words;  // fewer than elems
};

// A matrix of weights, or `count` of one shape side by side: [gates x units][k] in gates' ONNX order, as panels of a format
// (pack/panel_formats.inc). What a format has no use for is absent: kNone, 0. Offsets are those of weights; of several matrices
// everything lies one after the other. Tiles = ceil(units / NR).
struct BlobMatrix {
  uint32_t format;  // id
  uint32_t count;
  uint32_t gates, units, k;
  uint32_t entries;     // k that each panel keeps, each with its weights; dense: k
  uint32_t panels;      // offset
  uint32_t index;       // offset: sparse, the k of each entry, ascending within a panel
  uint32_t tile_first;  // offset: sparse, u32 [tiles + 1], where each tile's entries begin; kNone: every tile has `entries`
  uint32_t scales;      // offset: f32 [tiles][groups of k][gates][NR], what a stored weight is multiplied by
  uint32_t group_k;     // k of one scale; 0: all
  uint32_t unit_sums;   // offset: i32 [tiles][gates][NR], the sum of the stored weights: what a factor's zero point takes away
  uint32_t diagonal;    // offset: f32 [tiles][gates][NR], the matrix's diagonal where its panels hold 0 there
  float factor_scale;   // of quantised x or h; 0: found of every row when it is multiplied
  int32_t factor_zero;
  uint32_t reserved[5];  // 0
};

enum class OpKind : uint32_t {
  kRecurrent = 1,    // AttrRecurrent;  x, init_h, init_c, lengths -> y, y_h, y_c
  kDense = 2,        // AttrDense;      x -> y
  kUnary = 3,        // AttrUnary;      x -> y
  kBinary = 4,       // AttrBinary;     a, b -> y
  kSoftmax = 5,      // AttrSoftmax;    x -> y
  kCopy = 6,         // AttrCopy;       x -> y (slice, concat, transpose of features: one strided copy)
  kTimeStep = 7,     // AttrTimeStep;   sequence x -> row y (first or last step)
  kConv = 8,         // AttrConv;       x -> y
  kPool = 9,         // AttrPool;       x -> y
  kReduce = 10,      // AttrReduce;     x -> y
  kNorm = 11,        // AttrNorm;       x -> y
  kWhere = 12,       // AttrWhere;      condition, a, b -> y
  kGather = 13,      // AttrGather; i32 sequence input -> y
  kMatMul = 14,      // AttrMatMul;     a, b -> y
  kTimeReduce = 15,  // AttrTimeReduce; sequence x -> row y (over all steps)
  kStateRead = 16,   // AttrState;    -> y (the state as it is before the step)
  kStateWrite = 17,  // AttrState;    x, lengths -> (the state after the step)
};

struct BlobNode {
  uint32_t op;    // OpKind
  uint32_t attr;  // offset in the attrs section
  uint32_t attr_bytes;
  uint32_t input_first;  // index in args
  uint32_t input_count;
  uint32_t output_first;
  uint32_t output_count;
  uint32_t name;  // strings offset; the ONNX node's name
};

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
};
constexpr Act kLastKernelAct = Act::kCeil;

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
};

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
  uint32_t r_bias;    // weights offset: [tiles][NR], Rb of gate h for kGruLinear; else kNone
  uint32_t peephole;  // weights offset: [tiles][3][NR], i o f; or kNone
  uint32_t state_h;   // state index
  uint32_t state_c;   // state index, kLstm only; else kNone
  uint32_t reverse;   // 1: runs from the last step to the first
  BlobStrided init_h, init_c;
  BlobActivation act[3];  // ONNX order: LSTM f g h, GRU f g, RNN f
};

struct AttrRecurrent {
  uint32_t cell;
  uint32_t input_size;
  uint32_t hidden_size;
  uint32_t direction_count;  // 1 or 2
  uint32_t input_forget;     // LSTM: 1 couples the gates, f = 1 - i
  float clip;                // > 0: pre-activations are clipped to [-clip, clip]; 0: no clip
  BlobDirection direction[2];
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

// A tensor that the library keeps from step to step; the state has one buffer.
struct AttrState {
  uint32_t state;
};

// y is the reduction over all steps since the state began, of each element alone; op: kSum to kProd. The state has one buffer of
// [sums so far: elems][what their rounding lost: elems] and two words, the number of steps, low half first. In a model that is not
// causal it begins anew with every run.
struct AttrTimeReduce {
  uint32_t op;     // Reduce
  uint32_t state;  // index
};

struct AttrTimeStep {
  uint32_t last;   // 1: the last step that the row has lived through, 0: the first of the run
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
  // per group, one matrix of all groups as units and taps as k, in a format of NR 0.
  uint32_t matrix;
  uint32_t bias;  // weights offset: per matrix [ceil(O/NR)][NR]; kNone: zeros
  BlobActivation act;
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
#endif  // RNNPACK_FORMAT_BLOB_H_
