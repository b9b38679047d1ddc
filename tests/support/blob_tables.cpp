// blob_tables.cpp -- see blob_tables.h; and a blob's bytes, aligned, and its checksums, of blob_builder.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/blob_tables.h"

#include <algorithm>
#include <cstring>

#include "rnnpack/rnnpack.h"
#include "support/blob_builder.h"

namespace rnnp_test {
namespace {

template <class T>
void take(const uint8_t *data, size_t size, const rnnp::BlobSection &s, std::vector<T> *rows) {
  if (s.offset > size || s.bytes > size - s.offset) return;
  rows->resize(s.bytes / sizeof(T));
  if (!rows->empty()) std::memcpy(rows->data(), data + s.offset, rows->size() * sizeof(T));
}

template <class T>
rnnp::BlobSection put(std::vector<uint8_t> *blob, const std::vector<T> &rows, size_t align) {
  blob->resize((blob->size() + align - 1) / align * align);
  const rnnp::BlobSection s = {static_cast<uint32_t>(blob->size()), static_cast<uint32_t>(rows.size() * sizeof(T))};
  const auto *from = reinterpret_cast<const uint8_t *>(rows.data());
  if (s.bytes != 0) blob->insert(blob->end(), from, from + s.bytes);
  return s;
}

uint32_t byte_crc(const uint8_t *p, size_t n, uint32_t crc) {
  static const std::vector<uint32_t> table = [] {
    std::vector<uint32_t> t(256);
    for (uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int b = 0; b < 8; ++b) t[i] = (t[i] >> 1) ^ (0xedb88320u & (0u - (t[i] & 1u)));
    }
    return t;
  }();
  const uint32_t *step = table.data();
  crc = ~crc;
  for (size_t i = 0; i < n; ++i) crc = crc >> 8 ^ step[(crc ^ p[i]) & 255u];
  return ~crc;
}

}  // namespace

AlignedBytes::AlignedBytes(size_t bytes) : storage_(bytes + 64), size_(bytes) {
  data_ = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(storage_.data()) + 63) & ~uintptr_t{63});
}

AlignedBytes::AlignedBytes(const std::vector<uint8_t> &bytes) : AlignedBytes(bytes.size()) {
  if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
}

void reseal(std::vector<uint8_t> *blob) {
  rnnp::BlobHeader h;
  std::memcpy(&h, blob->data(), sizeof h);
  if (h.weights.offset < sizeof h || h.weights.offset > blob->size() || h.weights.bytes > blob->size() - h.weights.offset) return;
  h.tables_crc = h.weights_crc = 0;
  const uint32_t head = byte_crc(reinterpret_cast<const uint8_t *>(&h), sizeof h, 0);
  h.tables_crc = byte_crc(blob->data() + sizeof h, h.weights.offset - sizeof h, head);
  h.weights_crc = byte_crc(blob->data() + h.weights.offset, h.weights.bytes, 0);
  std::memcpy(blob->data(), &h, sizeof h);
}

void reseal_state(std::vector<uint8_t> *saved) {
  constexpr size_t kHeaderBytes = 24, kCrcAt = 20;
  const uint32_t crc = byte_crc(saved->data() + kHeaderBytes, saved->size() - kHeaderBytes, 0);
  std::memcpy(saved->data() + kCrcAt, &crc, sizeof crc);
}

uint32_t format_of_nr(uint32_t nr) {
  return nr == 16 ? 1 : nr == 8 ? 2 : nr == 4 ? 3 : 4;
}

BlobTables::BlobTables(const uint8_t *data, size_t size) {
  std::memcpy(&header, data, std::min(size, sizeof header));
  take(data, size, header.values, &values);
  take(data, size, header.nodes, &nodes);
  take(data, size, header.args, &args);
  take(data, size, header.inputs, &inputs);
  take(data, size, header.outputs, &outputs);
  take(data, size, header.states, &states);
  take(data, size, header.matrices, &matrices);
  take(data, size, header.attrs, &attrs);
  take(data, size, header.strings, &strings);
  take(data, size, header.weights, &weights);
}

std::vector<uint8_t> BlobTables::bytes() const {
  rnnp::BlobHeader h = header;
  std::vector<uint8_t> blob(sizeof h);
  h.values = put(&blob, values, 8);
  h.nodes = put(&blob, nodes, 8);
  h.args = put(&blob, args, 8);
  h.inputs = put(&blob, inputs, 8);
  h.outputs = put(&blob, outputs, 8);
  h.states = put(&blob, states, 8);
  h.matrices = put(&blob, matrices, 8);
  h.attrs = put(&blob, attrs, 8);
  h.strings = put(&blob, strings, 8);
  h.weights = put(&blob, weights, 64);
  h.file_bytes = static_cast<uint32_t>(blob.size());
  std::memcpy(blob.data(), &h, sizeof h);
  reseal(&blob);
  return blob;
}

uint32_t BlobTables::add_string(const std::string &s) {
  const uint32_t at = static_cast<uint32_t>(strings.size());
  strings.insert(strings.end(), s.begin(), s.end());
  strings.push_back(0);
  return at;
}

uint32_t BlobTables::add_value(const rnnp::BlobValue &v) {
  values.push_back(v);
  return static_cast<uint32_t>(values.size() - 1);
}

uint32_t BlobTables::add_matrix(uint32_t format, uint32_t gates, uint32_t units, uint32_t k, uint32_t panels, uint32_t count) {
  using rnnp::kNone;
  matrices.push_back({format, count, gates, units, k, k, panels, kNone, kNone, kNone, 0, kNone, kNone, 0.0f, 0, {}});
  return static_cast<uint32_t>(matrices.size() - 1);
}

void BlobTables::add_output(uint32_t value) {
  const rnnp::BlobValue &v = values[value];
  const int32_t elems = static_cast<int32_t>(v.row_elems);
  rnnp::BlobIo io = {add_string("out"), value, RNNP_ROLE_PER_RUN, 2, {RNNP_DIM_BATCH, elems}, 0, 0};
  if (v.sequence != 0) io = {io.name, value, RNNP_ROLE_SEQUENCE, 3, {RNNP_DIM_STEPS, RNNP_DIM_BATCH, elems}, 0, 0};
  outputs.push_back(io);
}

rnnp::BlobNode &BlobTables::put_node(rnnp::OpKind op, const void *attr, size_t bytes, const std::vector<uint32_t> &in,
                                     const std::vector<uint32_t> &out) {
  rnnp::BlobNode n = {};
  n.op = uint32_t(op);
  n.attr = static_cast<uint32_t>((attrs.size() + 7) / 8 * 8);
  n.attr_bytes = static_cast<uint32_t>(bytes);
  attrs.resize(n.attr + bytes);
  std::memcpy(attrs.data() + n.attr, attr, bytes);
  n.input_first = static_cast<uint32_t>(args.size());
  n.input_count = static_cast<uint32_t>(in.size());
  args.insert(args.end(), in.begin(), in.end());
  n.output_first = static_cast<uint32_t>(args.size());
  n.output_count = static_cast<uint32_t>(out.size());
  args.insert(args.end(), out.begin(), out.end());
  n.name = add_string("node");
  nodes.push_back(n);
  return nodes.back();
}

}  // namespace rnnp_test
