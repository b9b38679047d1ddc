// model.h -- an opened blob: typed views of its tables. What rnnp_model holds.
// model_open (reader.cpp) has checked every offset, index and count in the tables, so code that holds a Model indexes freely.
// What a node's attributes point to (vectors of weights, states, the matrices' shapes) is checked by the node's operator before
// first use: ops/op.h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_MODEL_H_
#define RNNPACK_FORMAT_MODEL_H_

#include "base/bytes.h"
#include "base/checked.h"
#include "format/blob.h"
#include "pack/panel_format.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

template <class T>
struct Table {
  const T *rows;
  uint32_t count;
  const T &operator[](uint32_t i) const { return rows[i]; }
};

constexpr uint32_t kModelTag = 0x6d6f646cu;  // marks an opened rnnp_model

// A matrix of a blob; with a count, the first of them.
struct Matrix {
  PanelFormat format;
  MatrixShape shape;
  uint32_t count;
  const uint8_t *panels;
  const float *scales;  // this, and what follows: nullptr, 0 where the matrix has none (BlobMatrix)
  const int32_t *unit_sums;
  const float *diagonal;
  const uint8_t *index;
  uint32_t group_k;
  float lhs_scale;

  const float *f32() const { return view_as<float>(panels); }
};

struct Model {
  uint32_t tag;
  const uint8_t *blob;
  const BlobHeader *header;
  Table<BlobValue> values;
  Table<BlobNode> nodes;
  Table<uint32_t> args;
  Table<BlobIo> inputs;
  Table<BlobIo> outputs;
  Table<BlobState> states;
  Table<BlobMatrix> matrices;

  const char *string(uint32_t offset) const { return reinterpret_cast<const char *>(blob + header->strings.offset + offset); }
  // Where the string after this one begins.
  uint32_t string_end(uint32_t offset) const {
    while (*string(offset) != 0) ++offset;
    return offset + 1;
  }
  uint32_t node_input(const BlobNode &n, uint32_t i) const { return i < n.input_count ? args[n.input_first + i] : kNone; }
  uint32_t node_output(const BlobNode &n, uint32_t i) const { return i < n.output_count ? args[n.output_first + i] : kNone; }

  // The node's attribute structure, or null when it is too short for T.
  template <class T>
  const T *attr(const BlobNode &n) const {
    return n.attr_bytes >= sizeof(T) ? view_as<T>(blob + header->attrs.offset + n.attr) : nullptr;
  }
  // True when `elems` floats at weights offset `offset` exist and are aligned.
  bool weights_fit(uint32_t offset, uint64_t elems) const {
    return offset % kBlobAlign == 0 && elems <= UINT32_MAX / 4 &&
           range_fits(offset, static_cast<uint32_t>(elems) * 4, header->weights.bytes);
  }
  // True when matrix `i` exists and is `count` of these shapes.
  bool has_matrix(uint32_t i, uint32_t gates, uint32_t units, uint32_t k, uint32_t count) const;
  Matrix matrix(uint32_t i) const;
  // True when numbers beside a matrix, one for each of its units and `gates` gates, exist: [count][tiles][gates][NR] floats.
  bool vector_fits(uint32_t offset, const Matrix &matrix, uint32_t gates) const;
  const float *weights(uint32_t offset) const { return view_as<float>(blob + header->weights.offset + offset); }
  // nullptr where there are none.
  const float *weights_or_none(uint32_t offset) const { return offset == kNone ? nullptr : weights(offset); }
};

static_assert(sizeof(Model) <= sizeof(rnnp_model), "rnnp_model is too small");

// What rnnp_model_open has put into *from; false when it has not. By copy: the caller's memory holds an rnnp_model, not a Model.
inline bool read_model(const rnnp_model *from, Model *model) {
  if (from == nullptr) return false;
  copy_bytes(model, from, sizeof *model);
  return model->tag == kModelTag;
}

// find_panel_format, which is inline, there once.
PanelFormat format_of(uint32_t id);

// RNNP_E_LAYOUT: of a format that this build does not know, so nothing is known of the matrix.
rnnp_status check_matrix(const BlobMatrix &matrix, const uint8_t *weights, uint32_t weights_bytes);

// rnnp_model_open's work: checks all tables, then fills *model.
rnnp_status model_open(Model *model, const void *blob, size_t bytes, uint32_t flags);
// The same of a blob that is part of the program: nothing but its version is checked.
rnnp_status model_take(Model *model, const void *blob);

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_MODEL_H_
