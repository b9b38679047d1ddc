// blob_view.cpp -- the JSON document of a blob. Contract: blob_view.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/blob_view.h"

#include <algorithm>
#include <cstring>

#include "compiler/emit/blob_checksum.h"
#include "compiler/inspect/blob_attributes.h"
#include "compiler/inspect/blob_words.h"
#include "compiler/onnx/errors.h"
#include "format/blob.h"
#include "pack/pack.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

// A document holds UTF-8 alone: a name that is none is shown with a ? for each byte beyond ASCII.
std::string readable(std::string text) {
  try {
    (void)Json(text).dump();
  } catch (const Json::exception &) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  }
  return text;
}

class Reader {
 public:
  explicit Reader(const AlignedBytes &blob) : bytes_(blob.data()) { std::memcpy(&h_, bytes_, sizeof h_); }

  Json document() const {
    Json doc;
    doc["version"] = h_.version;
    char id[17];
    std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(h_.model_id));
    doc["model_id"] = id;
    doc["file_bytes"] = h_.file_bytes;
    doc["weight_bytes"] = h_.weights.bytes;
    doc["causal"] = (h_.flags & kBlobCausal) != 0;
    doc["stepwise"] = (h_.flags & kBlobStepwise) != 0;
    doc["stream_steps"] = h_.stream_steps;
    doc["fixed_batch"] = h_.fixed_batch;
    doc["panel_format"] = panel_format_name(h_.panel_format);
    doc["macs_per_step"] = h_.macs_per_step;
    doc["metadata"] = metadata();
    doc["pools"] = {{"sequence_elems", h_.sequence_pool_elems}, {"row_elems", h_.row_pool_elems}};
    doc["weights_crc_ok"] = crc32_of(bytes_ + h_.weights.offset, h_.weights.bytes) == h_.weights_crc;
    doc["inputs"] = ios(h_.inputs);
    doc["outputs"] = ios(h_.outputs);
    doc["states"] = states();
    doc["matrices"] = matrices();
    doc["nodes"] = nodes();
    doc["values"] = values();
    return doc;
  }

 private:
  template <typename T>
  uint32_t count(const BlobSection &s) const {
    return static_cast<uint32_t>(s.bytes / sizeof(T));
  }
  template <typename T>
  T record(const BlobSection &s, uint32_t i) const {
    T out;
    std::memcpy(&out, bytes_ + s.offset + size_t{i} * sizeof(T), sizeof(T));
    return out;
  }
  std::string text(uint32_t offset) const { return reinterpret_cast<const char *>(bytes_ + h_.strings.offset + offset); }
  std::string string(uint32_t offset) const { return readable(text(offset)); }

  Json metadata() const {
    Json out = Json::object();
    for (uint32_t at = h_.metadata; at != 0 && !text(at).empty();) {
      const uint32_t value = at + static_cast<uint32_t>(text(at).size()) + 1;
      out.emplace(string(at), string(value));  // of a key that is there twice the first counts
      at = value + static_cast<uint32_t>(text(value).size()) + 1;
    }
    return out;
  }

  Json ios(const BlobSection &s) const {
    Json out = Json::array();
    for (uint32_t i = 0; i < count<BlobIo>(s); ++i) {
      const BlobIo io = record<BlobIo>(s, i);
      Json dims = Json::array();
      for (uint32_t k = 0; k < io.rank; ++k) {
        if (io.dims[k] == RNNP_DIM_STEPS)
          dims.push_back("steps");
        else if (io.dims[k] == RNNP_DIM_BATCH)
          dims.push_back("batch");
        else
          dims.push_back(io.dims[k]);
      }
      out.push_back({{"name", string(io.name)},
                     {"role", word(kRoles, io.role)},
                     {"dims", dims},
                     {"value", io.value},
                     {"row_elems", record<BlobValue>(h_.values, io.value).row_elems},
                     {"limit", io.limit}});
    }
    return out;
  }

  Json states() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < count<BlobState>(h_.states); ++i) {
      const BlobState s = record<BlobState>(h_.states, i);
      out.push_back({{"name", string(s.name)},
                     {"elems", s.elems},
                     {"init", maybe(s.init)},
                     {"per_row", s.per_row != 0},
                     {"buffers", s.buffers},
                     {"words", s.words}});
    }
    return out;
  }

  Json matrices() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < count<BlobMatrix>(h_.matrices); ++i) {
      const BlobMatrix m = record<BlobMatrix>(h_.matrices, i);
      out.push_back({{"format", panel_format_name(m.format)},
                     {"count", m.count},
                     {"gates", m.gates},
                     {"units", m.units},
                     {"k", m.k},
                     {"entries", m.entries},
                     {"panels", m.panels},
                     {"index", maybe(m.index)},
                     {"tile_first", maybe(m.tile_first)},
                     {"scales", maybe(m.scales)},
                     {"group_k", m.group_k},
                     {"unit_sums", maybe(m.unit_sums)},
                     {"diagonal", maybe(m.diagonal)},
                     {"lhs_scale", number(m.lhs_scale)},
                     {"lhs_zero_point", m.lhs_zero_point}});
    }
    return out;
  }

  Json values() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < count<BlobValue>(h_.values); ++i) {
      const BlobValue v = record<BlobValue>(h_.values, i);
      out.push_back({{"kind", word(kKinds, v.kind)},
                     {"dtype", word(kTypes, v.dtype)},
                     {"row_elems", v.row_elems},
                     {"location", maybe(v.location)},
                     {"sequence", v.sequence != 0},
                     {"early", v.early != 0}});
    }
    return out;
  }

  Json arguments(uint32_t first, uint32_t n) const {
    Json out = Json::array();
    for (uint32_t i = 0; i < n; ++i) out.push_back(maybe(record<uint32_t>(h_.args, first + i)));
    return out;
  }

  Json nodes() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < count<BlobNode>(h_.nodes); ++i) {
      const BlobNode n = record<BlobNode>(h_.nodes, i);
      out.push_back({{"name", string(n.name)},
                     {"op", word(kOps, n.op)},
                     {"inputs", arguments(n.input_first, n.input_count)},
                     {"outputs", arguments(n.output_first, n.output_count)},
                     {"attr", attributes_document(n, bytes_ + h_.attrs.offset + n.attr)}});
    }
    return out;
  }

  const uint8_t *bytes_;
  BlobHeader h_{};
};

}  // namespace

Json blob_document(const AlignedBytes &blob) {
  rnnp_model model;
  const rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  if (status != RNNP_OK) throw IoError(std::string("the blob does not open: ") + rnnp_status_string(status));
  return Reader(blob).document();
}

}  // namespace rnnp::compiler
