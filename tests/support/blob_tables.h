// blob_tables.h -- a blob taken apart into its tables, and put together again from any tables, sealed: for tests that corrupt
// blobs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_BLOB_TABLES_H_
#define RNNPACK_TESTS_SUPPORT_BLOB_TABLES_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "format/blob.h"

namespace rnnp {
struct PackedMatrix;
}

namespace rnnp_test {

// The id of panels of so many units (docs/BLOB_FORMAT.md, "Panel formats"); of 0: of weights in one row.
uint32_t format_of_nr(uint32_t nr);
// Behind the matrices of one format and size in `all`; sparse ones are alone.
void append_matrix(const rnnp::PackedMatrix &one, rnnp::PackedMatrix *all);

struct BlobTables {
  rnnp::BlobHeader header = {};  // its sections, sizes and checksums are made anew by bytes()
  std::vector<rnnp::BlobValue> values;
  std::vector<rnnp::BlobNode> nodes;
  std::vector<uint32_t> args;
  std::vector<rnnp::BlobIo> inputs, outputs;
  std::vector<rnnp::BlobState> states;
  std::vector<rnnp::BlobMatrix> matrices;
  std::vector<uint8_t> attrs, strings, weights;

  BlobTables() = default;
  // Of any bytes: a section that does not fit in them is empty.
  BlobTables(const uint8_t *data, size_t size);
  explicit BlobTables(const std::vector<uint8_t> &blob) : BlobTables(blob.data(), blob.size()) {}

  std::vector<uint8_t> bytes() const;

  // The attributes of a node, as the builder wrote them.
  template <class T>
  T attr(const rnnp::BlobNode &node) const {
    T out = {};
    if (node.attr <= attrs.size() && attrs.size() - node.attr >= sizeof out)
      std::memcpy(&out, attrs.data() + node.attr, sizeof out);
    return out;
  }
  template <class T>
  void set_attr(const rnnp::BlobNode &node, const T &a) {
    if (node.attr <= attrs.size() && attrs.size() - node.attr >= sizeof a) std::memcpy(attrs.data() + node.attr, &a, sizeof a);
  }

  uint32_t add_string(const std::string &s);
  uint32_t add_value(const rnnp::BlobValue &v);
  // A dense f32 matrix whose panels lie at this offset.
  uint32_t add_matrix(uint32_t format, uint32_t gates, uint32_t units, uint32_t k, uint32_t panels, uint32_t count = 1);
  void add_output(uint32_t value);
  // A node with these attributes.
  template <class T>
  rnnp::BlobNode &add_node(rnnp::OpKind op, const T &attr, const std::vector<uint32_t> &in, const std::vector<uint32_t> &out) {
    return put_node(op, &attr, sizeof attr, in, out);
  }

 private:
  rnnp::BlobNode &put_node(rnnp::OpKind op, const void *attr, size_t bytes, const std::vector<uint32_t> &in,
                           const std::vector<uint32_t> &out);
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_BLOB_TABLES_H_
