// blob.h -- every structure of the blob (operators' attributes: blob_attrs.h), the one thing that crosses from host to device.
// Contract: docs/BLOB_FORMAT.md. All integers little-endian; all offsets in bytes from the blob's first byte; no pointers.
// Records are plain arrays at 8-byte aligned offsets, weights at 64-byte aligned ones, so they are used where they lie.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_BLOB_H_
#define RNNPACK_FORMAT_BLOB_H_

#include <stdint.h>

#include "base/dtype.h"
#include "format/blob_attrs.h"

namespace rnnp {

constexpr uint32_t kBlobMagic = 0x504e4e52u;  // the bytes "RNNP"
constexpr uint32_t kBlobVersion = 1, kOldestBlobVersion = 1;
constexpr uint32_t kBlobAlign = 64;
constexpr uint32_t kNone = 0xffffffffu;  // "no value", "no offset"
constexpr uint32_t kBlobMaxNodes = 4096;
constexpr uint32_t kBlobMaxValues = 16384;
constexpr uint32_t kBlobMaxStates = 16384;
constexpr uint32_t kBlobMaxMatrices = 65536;
constexpr uint32_t kBlobMaxNodeInputs = 16;
constexpr uint32_t kBlobMaxNodeOutputs = 4;
constexpr uint32_t kBlobMaxMetadataBytes = 65536;

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
  uint32_t metadata;             // strings offset of key, value, key, value ...; an empty key ends them. 0: none
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
  uint32_t entries;     // sparse: of all panels and gates; dense: k
  uint32_t panels;      // offset
  uint32_t index;       // offset: sparse, where the entries of each panel and gate begin, and which k each block of them holds
  uint32_t tile_first;  // kNone
  uint32_t scales;     // offset: f32 [tiles][groups of k][gates][NR], what a stored weight is multiplied by; of integer-only layers
                       // u32 [tiles][gates][NR], a multiplier and shifts
  uint32_t group_k;    // k of one scale; 0: all
  uint32_t unit_sums;  // offset: i32 [tiles][gates][NR], the sum of the stored weights: what a factor's zero point takes away
  uint32_t diagonal;   // offset: f32 [tiles][gates][NR], the matrix's diagonal where its panels hold 0 there
  float lhs_scale;     // of quantised x or h; 0: found of every row when it is multiplied. Of integer-only layers its reciprocal
  int32_t lhs_zero_point;
  uint32_t reserved[5];  // 0
};

enum class OpKind : uint32_t {
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) kind = id,
#include "format/ops.inc"
#undef RNNPACK_KIND
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

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_BLOB_H_
