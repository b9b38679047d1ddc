// reader.cpp -- opens a blob: the only place where bytes become tables.
// Touches the blob and *model only. Every offset, count and index is checked here once, with 64-bit arithmetic, before first use.
// Safe on any byte string: nothing is trusted, not even the checksum.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "format/crc32.h"
#include "format/model.h"

namespace rnnp {
namespace {

bool host_is_little_endian() {
  const uint16_t one = 1;
  uint8_t low;
  copy_bytes(&low, &one, 1);
  return low == 1;
}

bool section_fits(const Model &m, const BlobSection &s) {
  return s.offset % 8 == 0 && range_fits(s.offset, s.bytes, m.header->file_bytes);
}

template <class T>
void take_table(const Model &m, const BlobSection &s, Table<T> *table) {
  table->rows = view_as<T>(m.blob + s.offset);
  table->count = static_cast<uint32_t>(s.bytes / sizeof(T));
}

// The tables where the header says that they are.
void take_tables(Model *m) {
  const BlobHeader &h = *m->header;
  take_table(*m, h.values, &m->values);
  take_table(*m, h.nodes, &m->nodes);
  take_table(*m, h.args, &m->args);
  take_table(*m, h.inputs, &m->inputs);
  take_table(*m, h.outputs, &m->outputs);
  take_table(*m, h.states, &m->states);
  take_table(*m, h.matrices, &m->matrices);
}

template <class T>
bool table_fits(const Model &m, const BlobSection &s, const Table<T> &table) {
  return section_fits(m, s) && table.count * sizeof(T) == s.bytes;
}

rnnp_status check_version(const BlobHeader &h) {
  if (h.magic != kBlobMagic) return RNNP_E_BLOB_MAGIC;
  return h.version >= kOldestBlobVersion && h.version <= kBlobVersion ? RNNP_OK : RNNP_E_BLOB_VERSION;
}

rnnp_status check_header(const Model &m, size_t bytes) {
  if (bytes < sizeof(BlobHeader)) return RNNP_E_BLOB_CORRUPT;
  const BlobHeader &h = *m.header;
  const rnnp_status status = check_version(h);
  if (status != RNNP_OK) return status;
  if (h.header_bytes != sizeof(BlobHeader) || h.align != kBlobAlign) return RNNP_E_BLOB_CORRUPT;
  if (h.file_bytes > bytes || h.file_bytes < sizeof(BlobHeader)) return RNNP_E_BLOB_CORRUPT;
  if (h.stream_steps > (1u << 20)) return RNNP_E_BLOB_CORRUPT;
  const BlobSection &w = h.weights;
  if (w.offset < sizeof(BlobHeader) || w.offset % kBlobAlign != 0 || !range_fits(w.offset, w.bytes, h.file_bytes))
    return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

uint32_t tables_crc(const Model &m) {
  BlobHeader h;
  copy_bytes(&h, m.header, sizeof h);
  h.tables_crc = 0;
  h.weights_crc = 0;
  return crc32(crc32(0, &h, sizeof h), m.blob + sizeof h, m.header->weights.offset - sizeof h);
}

bool string_fits(const Model &m, uint32_t offset) {
  return offset < m.header->strings.bytes;
}

// Pairs up to an empty key, all inside the strings, whose last byte is a NUL.
bool metadata_fits(const Model &m) {
  const uint32_t first = m.header->metadata, end = m.header->strings.bytes;
  if (first == 0) return true;
  for (uint32_t at = first; at < end && at - first < kBlobMaxMetadataBytes; at = m.string_end(at)) {
    if (m.string(at)[0] == 0) return true;
    at = m.string_end(at);
    if (at >= end) break;
  }
  return false;
}

bool tables_fit(const Model &m) {
  const BlobHeader &h = *m.header;
  if (!table_fits(m, h.values, m.values) || !table_fits(m, h.nodes, m.nodes) || !table_fits(m, h.args, m.args) ||
      !table_fits(m, h.inputs, m.inputs) || !table_fits(m, h.outputs, m.outputs) || !table_fits(m, h.states, m.states) ||
      !table_fits(m, h.matrices, m.matrices)) {
    return false;
  }
  if (m.values.count > kBlobMaxValues || m.nodes.count > kBlobMaxNodes || m.states.count > kBlobMaxStates) return false;
  if (m.matrices.count > kBlobMaxMatrices) return false;
  if (!section_fits(m, h.attrs)) return false;
  if (!range_fits(h.strings.offset, h.strings.bytes, h.file_bytes)) return false;
  return h.strings.bytes > 0 && m.blob[h.strings.offset + h.strings.bytes - 1] == 0;
}

bool value_fits(const Model &m, const BlobValue &v) {
  if (v.row_elems == 0 || (v.dtype != uint32_t(DType::kF32) && v.dtype != uint32_t(DType::kI32)) || v.sequence > 1 || v.early > 1)
    return false;
  switch (ValueKind(v.kind)) {
    case ValueKind::kSequence:
      return v.sequence == 1 && v.location % 16 == 0 && range_fits(v.location, v.row_elems, m.header->sequence_pool_elems);
    case ValueKind::kRow:
      return v.sequence == 0 && v.location % 16 == 0 && range_fits(v.location, v.row_elems, m.header->row_pool_elems);
    case ValueKind::kConst:
      return v.sequence == 0 && m.weights_fit(v.location, v.row_elems);
    case ValueKind::kInput:
      return v.location < m.inputs.count;
  }
  return false;
}

// The ONNX axes: steps, batch and constants whose product is the row.
bool io_dims_fit(const BlobIo &io, uint32_t row_elems) {
  if (io.rank > kBlobMaxRank) return false;
  uint64_t elems = 1;
  for (uint32_t i = 0; i < io.rank; ++i) {
    if (io.dims[i] == RNNP_DIM_STEPS || io.dims[i] == RNNP_DIM_BATCH) continue;
    if (io.dims[i] <= 0) return false;
    elems *= static_cast<uint32_t>(io.dims[i]);
    if (elems > row_elems) return false;
  }
  return elems == row_elems;
}

bool io_fits(const Model &m, const BlobIo &io, bool input) {
  if (!string_fits(m, io.name) || io.value >= m.values.count) return false;
  const BlobValue &v = m.values[io.value];
  if (io.role > (input ? RNNP_ROLE_LENGTHS : RNNP_ROLE_PER_RUN) || !io_dims_fit(io, v.row_elems)) return false;
  if ((io.role == RNNP_ROLE_SEQUENCE) != (v.sequence == 1)) return false;
  const bool is_int = v.dtype == uint32_t(DType::kI32);
  if (io.role == RNNP_ROLE_LENGTHS) return is_int && v.row_elems == 1 && io.limit == 0;
  if (!is_int) return io.limit == 0;
  return input && io.role == RNNP_ROLE_SEQUENCE && io.limit > 0 && io.limit <= INT32_MAX;
}

bool state_fits(const Model &m, const BlobState &s) {
  if (s.elems == 0 || s.elems > (1u << 28) || s.words >= s.elems || s.per_row > 1 || s.buffers < 1 || s.buffers > 2 ||
      !string_fits(m, s.name))
    return false;
  if (s.init == kNone) return true;
  if (s.per_row && m.header->fixed_batch == 0) return false;
  return m.weights_fit(s.init, uint64_t{s.elems} * (s.per_row ? m.header->fixed_batch : 1));
}

// An input that a call may leave out stands only where its operator asks whether it is there.
bool may_be_left_out(uint32_t op, uint32_t operand, uint32_t role) {
  if (role == RNNP_ROLE_STATE)
    return (op == uint32_t(OpKind::kRecurrent) && (operand == 1 || operand == 2)) || op == uint32_t(OpKind::kStateRead);
  const bool at_end = op == uint32_t(OpKind::kStateWrite) || op == uint32_t(OpKind::kTimeReverse);
  return (op == uint32_t(OpKind::kRecurrent) && operand == 3) || (at_end && operand == 1);
}

bool operand_fits(const Model &m, uint32_t op, uint32_t operand, uint32_t value) {
  if (value == kNone) return true;
  if (value >= m.values.count) return false;
  const BlobValue &v = m.values[value];
  if (ValueKind(v.kind) != ValueKind::kInput) return true;
  const uint32_t role = m.inputs[v.location].role;
  return (role != RNNP_ROLE_STATE && role != RNNP_ROLE_LENGTHS) || may_be_left_out(op, operand, role);
}

bool is_made(const Model &m, uint32_t value) {
  return value < m.values.count && m.values[value].kind <= uint32_t(ValueKind::kRow) &&
         m.values[value].dtype == uint32_t(DType::kF32);
}

// Inputs refer to values, outputs to pool values only; order of execution is the order of the table. Short lists: the work of
// opening is linear in the tables however many nodes name the same part of args.
bool node_fits(const Model &m, const BlobNode &n) {
  if (!range_fits(n.attr, n.attr_bytes, m.header->attrs.bytes) || n.attr % 8 != 0 || !string_fits(m, n.name)) return false;
  if (n.input_count > kBlobMaxNodeInputs || n.output_count > kBlobMaxNodeOutputs) return false;
  if (!range_fits(n.input_first, n.input_count, m.args.count) || !range_fits(n.output_first, n.output_count, m.args.count))
    return false;
  for (uint32_t i = 0; i < n.input_count; ++i) {
    if (!operand_fits(m, n.op, i, m.args[n.input_first + i])) return false;
  }
  for (uint32_t i = 0; i < n.output_count; ++i) {
    const uint32_t v = m.args[n.output_first + i];
    if (v != kNone && !is_made(m, v)) return false;
  }
  return true;
}

bool model_rows_fit(const Model &m) {
  for (uint32_t i = 0; i < m.values.count; ++i) {
    if (!value_fits(m, m.values[i])) return false;
  }
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    if (!io_fits(m, m.inputs[i], true)) return false;
    const BlobValue &v = m.values[m.inputs[i].value];
    if (ValueKind(v.kind) != ValueKind::kInput || v.location != i) return false;
  }
  for (uint32_t i = 0; i < m.outputs.count; ++i) {
    if (!io_fits(m, m.outputs[i], false) || !is_made(m, m.outputs[i].value)) return false;
  }
  for (uint32_t i = 0; i < m.values.count; ++i) {  // an input value belongs to exactly its input
    const BlobValue &v = m.values[i];
    if (ValueKind(v.kind) == ValueKind::kInput && m.inputs[v.location].value != i) return false;
  }
  for (uint32_t i = 0; i < m.states.count; ++i) {
    if (!state_fits(m, m.states[i])) return false;
  }
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    if (!node_fits(m, m.nodes[i])) return false;
  }
  return true;
}

rnnp_status check_matrices(const Model &m) {
  if (format_of(m.header->panel_format).id == 0) return RNNP_E_LAYOUT;
  for (uint32_t i = 0; i < m.matrices.count; ++i) {
    const rnnp_status status = check_matrix(m.matrices[i], m.blob + m.header->weights.offset, m.header->weights.bytes);
    if (status != RNNP_OK) return status;
  }
  return RNNP_OK;
}

Model at_blob(const void *blob) {
  Model m = {};
  m.blob = static_cast<const uint8_t *>(blob);
  m.header = static_cast<const BlobHeader *>(blob);
  return m;
}

}  // namespace

rnnp_status model_open(Model *model, const void *blob, size_t bytes, uint32_t flags) {
  if (!host_is_little_endian()) return RNNP_E_ENDIAN;
  Model m = at_blob(blob);
  rnnp_status status = check_header(m, bytes);
  if (status != RNNP_OK) return status;
  if (tables_crc(m) != m.header->tables_crc) return RNNP_E_BLOB_CORRUPT;
  take_tables(&m);
  if (!tables_fit(m) || !metadata_fits(m) || !model_rows_fit(m)) return RNNP_E_BLOB_CORRUPT;
  status = check_matrices(m);
  if (status != RNNP_OK) return status;
  if (flags & RNNP_OPEN_CHECK_WEIGHTS) {
    const BlobSection &w = m.header->weights;
    if (crc32(0, m.blob + w.offset, w.bytes) != m.header->weights_crc) return RNNP_E_BLOB_CORRUPT;
  }
  m.tag = kModelTag;
  *model = m;
  return RNNP_OK;
}

rnnp_status model_take(Model *model, const void *blob) {
  Model m = at_blob(blob);
  const rnnp_status status = check_version(*m.header);
  if (status != RNNP_OK) return status;
  take_tables(&m);
  m.tag = kModelTag;
  *model = m;
  return RNNP_OK;
}

}  // namespace rnnp
