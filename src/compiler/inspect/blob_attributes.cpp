// blob_attributes.cpp -- Contract: blob_attributes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/blob_attributes.h"

#include <cstring>

#include "compiler/inspect/blob_words.h"
#include "compiler/onnx/activation.h"

namespace rnnp::compiler {
namespace {

Json activation(const BlobActivation &a) {
  std::string name = activation_name(static_cast<Act>(a.act));
  if (name == "?") name = "unknown " + std::to_string(a.act);
  return {{"name", name}, {"alpha", number(a.alpha)}, {"beta", number(a.beta)}};
}

template <typename T>
Json list(const T *v, uint32_t count) {
  Json out = Json::array();
  for (uint32_t i = 0; i < count && i < kBlobMaxRank; ++i) out.push_back(v[i]);
  return out;
}

Json recurrent(const AttrRecurrent &a) {
  const uint32_t acts = has_c(Cell(a.cell)) ? 3 : a.cell == static_cast<uint32_t>(Cell::kRnn) ? 1 : 2;
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
  return {{"cell", word(kCells, a.cell)}, {"input_size", a.input_size},
          {"hidden_size", a.hidden_size}, {"input_forget", (a.flags & kInputForget) != 0},
          {"mask", has_mask(a)},          {"clip", number(a.clip)},
          {"directions", directions}};
}

Json matrix(const MatrixStrides &s, uint32_t rank) {
  return {{"first", s.first}, {"row", s.row}, {"column", s.column}, {"batch", list(s.batch, rank)}};
}

Json window(const BlobWindow &w) {
  return {{"in_size", list(w.in_size, 2)},  {"out_size", list(w.out_size, 2)}, {"kernel", list(w.kernel, 2)},
          {"stride", list(w.stride, 2)},    {"dilation", list(w.dilation, 2)}, {"pad", list(w.pad, 2)},
          {"x_first", w.x_first},           {"x_stride", list(w.x_stride, 3)}, {"y_first", w.y_first},
          {"y_stride", list(w.y_stride, 2)}};
}

Json convolution(const AttrConv &a) {
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

Json document_of(const AttrRecurrent &a) {
  return recurrent(a);
}
Json document_of(const AttrUnary &a) {
  return {{"activation", activation(a.act)}};
}
Json document_of(const AttrConv &a) {
  return convolution(a);
}
Json document_of(const AttrTimeReverse &) {
  return Json::object();
}
Json document_of(const AttrState &a) {
  return {{"state", a.state}};
}
Json document_of(const AttrDense &a) {
  return {{"input_size", a.input_size}, {"output_size", a.output_size}, {"groups", a.groups},
          {"matrix", a.matrix},         {"bias", maybe(a.bias)},        {"activation", activation(a.act)}};
}
Json document_of(const AttrBinary &a) {
  return {{"op", word(kBinaries, a.op)},
          {"dims", list(a.dims, a.rank)},
          {"a_stride", list(a.a_stride, a.rank)},
          {"b_stride", list(a.b_stride, a.rank)}};
}
Json document_of(const AttrSoftmax &a) {
  return {{"outer", a.outer}, {"axis", a.axis}, {"inner", a.inner}, {"log", a.log != 0}};
}
Json document_of(const AttrCopy &a) {
  return {{"dims", list(a.dims, a.rank)},
          {"x_stride", list(a.x_stride, a.rank)},
          {"y_stride", list(a.y_stride, a.rank)},
          {"x_first", a.x_first},
          {"y_first", a.y_first}};
}
Json document_of(const AttrTimeStep &a) {
  return {{"last", a.last != 0}, {"state", maybe(a.state)}};
}
Json document_of(const AttrPool &a) {
  Json out = {{"pool", word(kPools, a.pool)}, {"channels", a.channels}};
  out.update(window(a.window));
  out.update({{"counted_before", list(a.counted_before, 2)}, {"counted_after", list(a.counted_after, 2)}});
  return out;
}
Json document_of(const AttrTimeReduce &a) {
  return {{"op", word(kReductions, a.op)}, {"state", a.state}};
}
Json document_of(const AttrReduce &a) {
  return {{"op", word(kReductions, a.op)},
          {"x_first", a.x_first},
          {"kept_dims", list(a.kept_dims, a.kept_rank)},
          {"kept_stride", list(a.kept_stride, a.kept_rank)},
          {"over_dims", list(a.over_dims, a.over_rank)},
          {"over_stride", list(a.over_stride, a.over_rank)}};
}
Json document_of(const AttrNorm &a) {
  return {{"outer", a.outer},
          {"elems", a.elems},
          {"centred", a.centred != 0},
          {"per_outer", a.per_outer != 0},
          {"epsilon", number(a.epsilon)},
          {"scale", maybe(a.scale)},
          {"bias", maybe(a.bias)}};
}
Json document_of(const AttrWhere &a) {
  return {{"dims", list(a.dims, a.rank)},
          {"condition_stride", list(a.stride[0], a.rank)},
          {"a_stride", list(a.stride[1], a.rank)},
          {"b_stride", list(a.stride[2], a.rank)},
          {"first", list(a.first, 3)}};
}
Json document_of(const AttrGather &a) {
  return {{"rows", a.rows}, {"elems", a.elems}, {"count", a.count}, {"table", a.table}};
}
Json document_of(const AttrMatMul &a) {
  return {
      {"m", a.m}, {"n", a.n}, {"k", a.k}, {"dims", list(a.dims, a.rank)}, {"a", matrix(a.a, a.rank)}, {"b", matrix(a.b, a.rank)}};
}
Json document_of(const AttrFeatureRecurrent &a) {
  Json out = recurrent(a.layer);
  out.update({{"steps", a.steps}, {"rows", a.rows}});
  return out;
}

struct TooShort {};  // fewer bytes of attributes than the operator has

class AttributeReader {
 public:
  AttributeReader(const BlobNode &node, const uint8_t *bytes) : node_(node), bytes_(bytes) {}

  Json document() const {
    try {
      const Json known = attributes();
      if (!known.is_null()) return with_rest(known);
    } catch (const TooShort &) {
    }
    return {{"unknown_bytes", node_.attr_bytes}};
  }

 private:
  template <typename T>
  T attribute() const {
    if (node_.attr_bytes < sizeof(T)) throw TooShort{};
    T out;
    std::memcpy(&out, bytes_, sizeof out);
    return out;
  }

  // What comes behind the others' attributes: the nodes of a loop, fraction bits of integer-only layers, norms of a kLstmNorm.
  Json with_rest(Json layer) const {
    if (static_cast<OpKind>(node_.op) == OpKind::kStateRead && node_.attr_bytes >= sizeof(AttrLoop))
      layer["nodes"] = attribute<AttrLoop>().nodes;
    if (static_cast<OpKind>(node_.op) != OpKind::kRecurrent || node_.attr_bytes < sizeof(AttrIntegerRecurrent)) return layer;
    if (Cell(attribute<AttrRecurrent>().cell) != Cell::kLstmNorm) {
      const auto a = attribute<AttrIntegerRecurrent>();
      layer["c_bits"] = {a.c_bits[0], a.c_bits[1]};
    } else if (node_.attr_bytes >= sizeof(AttrNormRecurrent)) {
      const auto a = attribute<AttrNormRecurrent>();
      layer.update({{"by_gate", a.by_gate}, {"keeps_c", a.keeps_c}, {"norms", Json::array()}});
      for (uint32_t d = 0; d < a.layer.direction_count && d < 2; ++d) layer["norms"].push_back(norms(a.norm[d]));
    }
    return layer;
  }

  static Json norms(const BlobCellNorm &n) {
    return {{"x_scale", n.x_scale}, {"h_scale", maybe(n.h_scale)},
            {"bias", n.bias},       {"c_scale", n.c_scale},
            {"c_bias", n.c_bias},   {"epsilons", {number(n.x_epsilon), number(n.h_epsilon), number(n.c_epsilon)}}};
  }

  Json attributes() const {
    switch (static_cast<OpKind>(node_.op)) {
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) \
  case OpKind::kind:                                         \
    return document_of(attribute<attributes>());
#include "format/ops.inc"
#undef RNNPACK_KIND
    }
    return nullptr;
  }

  const BlobNode &node_;
  const uint8_t *bytes_;
};

}  // namespace

Json attributes_document(const BlobNode &node, const uint8_t *bytes) {
  return AttributeReader(node, bytes).document();
}

}  // namespace rnnp::compiler
