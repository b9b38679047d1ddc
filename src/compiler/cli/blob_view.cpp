// blob_view.cpp -- the JSON document of a blob. Contract: blob_view.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/blob_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/emit/blob_checksum.h"
#include "compiler/onnx/activation.h"
#include "compiler/onnx/problem.h"
#include "format/blob.h"
#include "pack/pack.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kOps[] = {
    "unknown 0",  "recurrent",   "dense",           "unary",       "binary", "softmax", "copy",   "time_step",
    "conv",       "pool",        "reduce",          "norm",        "where",  "gather",  "matmul", "time_reduce",
    "state_read", "state_write", "inner_recurrent", "time_reverse"};
constexpr const char *kCells[] = {"rnn", "lstm", "gru", "gru_linear"};
constexpr const char *kKinds[] = {"sequence", "row", "const", "input"};
constexpr const char *kTypes[] = {"f32", "i32", "f16", "bf16", "i8", "i4"};
constexpr const char *kBinaries[] = {"add",       "mul",   "sub",  "div",           "min",     "max",
                                     "pow",       "equal", "less", "less_or_equal", "greater", "greater_or_equal",
                                     "not_equal", "prelu"};
constexpr const char *kReductions[] = {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"};
constexpr const char *kPools[] = {"max", "average"};
constexpr const char *kRoles[] = {"sequence", "row", "state", "lengths"};

template <size_t N>
std::string word(const char *const (&words)[N], uint32_t i) {
  return i < N ? words[i] : "unknown " + std::to_string(i);
}

Json number(float v) {
  return std::isfinite(v) ? Json(static_cast<double>(v)) : Json(v > 0 ? "inf" : v < 0 ? "-inf" : "nan");
}
Json maybe(uint32_t v) {
  return v == kNone ? Json(nullptr) : Json(v);
}

Json activation(const BlobActivation &a) {
  std::string name = activation_name(static_cast<Act>(a.act));
  if (name == "?") name = "unknown " + std::to_string(a.act);
  return {{"name", name}, {"alpha", number(a.alpha)}, {"beta", number(a.beta)}};
}

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

template <typename T>
Json list(const T *v, uint32_t count) {
  Json out = Json::array();
  for (uint32_t i = 0; i < count && i < kBlobMaxRank; ++i) out.push_back(v[i]);
  return out;
}

struct TooShort {};  // fewer bytes of attributes than the operator has

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
  template <typename T>
  T attribute(const BlobNode &node) const {
    if (node.attr_bytes < sizeof(T)) throw TooShort{};
    T out;
    std::memcpy(&out, bytes_ + h_.attrs.offset + node.attr, sizeof out);
    return out;
  }
  std::string string(uint32_t offset) const {
    return readable(reinterpret_cast<const char *>(bytes_ + h_.strings.offset + offset));
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
                     {"factor_scale", number(m.factor_scale)},
                     {"factor_zero", m.factor_zero}});
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
                     {"attr", attributes_or_size(n)}});
    }
    return out;
  }

  Json recurrent(const AttrRecurrent &a) const {
    const uint32_t acts = a.cell == static_cast<uint32_t>(Cell::kLstm) ? 3 : a.cell == static_cast<uint32_t>(Cell::kRnn) ? 1 : 2;
    Json directions = Json::array();
    for (uint32_t d = 0; d < a.direction_count && d < 2; ++d) {
      const BlobDirection &b = a.direction[d];
      Json names = Json::array();
      for (uint32_t k = 0; k < acts; ++k) names.push_back(activation(b.act[k]));
      directions.push_back({{"w", b.w},
                            {"r", b.r},
                            {"r_output", maybe(b.r_output)},
                            {"bias", b.bias},
                            {"r_bias", maybe(b.r_bias)},
                            {"peephole", maybe(b.peephole)},
                            {"state_h", b.state_h},
                            {"state_c", maybe(b.state_c)},
                            {"reverse", b.reverse != 0},
                            {"init_h", {b.init_h.first, b.init_h.stride}},
                            {"init_c", {b.init_c.first, b.init_c.stride}},
                            {"activations", names}});
    }
    return {{"cell", word(kCells, a.cell)},        {"input_size", a.input_size}, {"hidden_size", a.hidden_size},
            {"input_forget", a.input_forget != 0}, {"clip", number(a.clip)},     {"directions", directions}};
  }

  // Only layers in integers have them.
  Json with_c_bits(const BlobNode &n, Json layer) const {
    if (n.attr_bytes < sizeof(AttrFixedRecurrent)) return layer;
    const auto a = attribute<AttrFixedRecurrent>(n);
    layer["c_bits"] = {a.c_bits[0], a.c_bits[1]};
    return layer;
  }

  static Json matrix(const MatrixStrides &s, uint32_t rank) {
    return {{"first", s.first}, {"row", s.row}, {"column", s.column}, {"batch", list(s.batch, rank)}};
  }

  static Json window(const BlobWindow &w) {
    return {{"in_size", list(w.in_size, 2)},  {"out_size", list(w.out_size, 2)}, {"kernel", list(w.kernel, 2)},
            {"stride", list(w.stride, 2)},    {"dilation", list(w.dilation, 2)}, {"pad", list(w.pad, 2)},
            {"x_first", w.x_first},           {"x_stride", list(w.x_stride, 3)}, {"y_first", w.y_first},
            {"y_stride", list(w.y_stride, 2)}};
  }

  static Json convolution(const AttrConv &a) {
    Json out = window(a.window);
    out.update({{"time_taps", a.time_taps},
                {"time_dilation", a.time_dilation},
                {"lead", a.lead},
                {"state", maybe(a.state)},
                {"groups", a.groups},
                {"in_channels", a.in_channels},
                {"out_channels", a.out_channels},
                {"matrix", a.matrix},
                {"bias", maybe(a.bias)},
                {"activation", activation(a.act)},
                {"y_plane", a.y_plane}});
    return out;
  }

  // Those of an operator that this tool does not know, or too few of them, are a number of bytes.
  Json attributes_or_size(const BlobNode &n) const {
    try {
      const Json known = attributes(n);
      if (!known.is_null()) return known;
    } catch (const TooShort &) {
    }
    return {{"unknown_bytes", n.attr_bytes}};
  }

  Json attributes(const BlobNode &n) const {
    switch (static_cast<OpKind>(n.op)) {
      case OpKind::kRecurrent:
        return with_c_bits(n, recurrent(attribute<AttrRecurrent>(n)));
      case OpKind::kDense: {
        const auto a = attribute<AttrDense>(n);
        return {{"input_size", a.input_size}, {"output_size", a.output_size}, {"groups", a.groups},
                {"matrix", a.matrix},         {"bias", maybe(a.bias)},        {"activation", activation(a.act)}};
      }
      case OpKind::kUnary:
        return {{"activation", activation(attribute<AttrUnary>(n).act)}};
      case OpKind::kBinary: {
        const auto a = attribute<AttrBinary>(n);
        return {{"op", word(kBinaries, a.op)},
                {"dims", list(a.dims, a.rank)},
                {"a_stride", list(a.a_stride, a.rank)},
                {"b_stride", list(a.b_stride, a.rank)}};
      }
      case OpKind::kSoftmax: {
        const auto a = attribute<AttrSoftmax>(n);
        return {{"outer", a.outer}, {"axis", a.axis}, {"inner", a.inner}, {"log", a.log != 0}};
      }
      case OpKind::kCopy: {
        const auto a = attribute<AttrCopy>(n);
        return {{"dims", list(a.dims, a.rank)},
                {"x_stride", list(a.x_stride, a.rank)},
                {"y_stride", list(a.y_stride, a.rank)},
                {"x_first", a.x_first},
                {"y_first", a.y_first}};
      }
      case OpKind::kTimeStep: {
        const auto a = attribute<AttrTimeStep>(n);
        return {{"last", a.last != 0}, {"state", maybe(a.state)}};
      }
      case OpKind::kConv:
        return convolution(attribute<AttrConv>(n));
      case OpKind::kPool: {
        const auto a = attribute<AttrPool>(n);
        Json out = {{"pool", word(kPools, a.pool)}, {"channels", a.channels}};
        out.update(window(a.window));
        out.update({{"counted_before", list(a.counted_before, 2)}, {"counted_after", list(a.counted_after, 2)}});
        return out;
      }
      case OpKind::kTimeReduce: {
        const auto a = attribute<AttrTimeReduce>(n);
        return {{"op", word(kReductions, a.op)}, {"state", a.state}};
      }
      case OpKind::kReduce: {
        const auto a = attribute<AttrReduce>(n);
        return {{"op", word(kReductions, a.op)},
                {"x_first", a.x_first},
                {"kept_dims", list(a.kept_dims, a.kept_rank)},
                {"kept_stride", list(a.kept_stride, a.kept_rank)},
                {"over_dims", list(a.over_dims, a.over_rank)},
                {"over_stride", list(a.over_stride, a.over_rank)}};
      }
      case OpKind::kNorm: {
        const auto a = attribute<AttrNorm>(n);
        return {{"outer", a.outer},
                {"elems", a.elems},
                {"centred", a.centred != 0},
                {"per_outer", a.per_outer != 0},
                {"epsilon", number(a.epsilon)},
                {"scale", maybe(a.scale)},
                {"bias", maybe(a.bias)}};
      }
      case OpKind::kWhere: {
        const auto a = attribute<AttrWhere>(n);
        return {{"dims", list(a.dims, a.rank)},
                {"condition_stride", list(a.stride[0], a.rank)},
                {"a_stride", list(a.stride[1], a.rank)},
                {"b_stride", list(a.stride[2], a.rank)},
                {"first", list(a.first, 3)}};
      }
      case OpKind::kGather: {
        const auto a = attribute<AttrGather>(n);
        return {{"rows", a.rows}, {"elems", a.elems}, {"count", a.count}, {"table", a.table}};
      }
      case OpKind::kMatMul: {
        const auto a = attribute<AttrMatMul>(n);
        return {{"m", a.m},
                {"n", a.n},
                {"k", a.k},
                {"dims", list(a.dims, a.rank)},
                {"a", matrix(a.a, a.rank)},
                {"b", matrix(a.b, a.rank)}};
      }
      case OpKind::kInnerRecurrent: {
        const auto a = attribute<AttrInnerRecurrent>(n);
        Json out = recurrent(a.layer);
        out.update({{"steps", a.steps}, {"rows", a.rows}});
        return out;
      }
      case OpKind::kTimeReverse:
        attribute<AttrTimeReverse>(n);
        return Json::object();
      case OpKind::kStateRead:
      case OpKind::kStateWrite:
        return {{"state", attribute<AttrState>(n).state}};
    }
    return nullptr;
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
