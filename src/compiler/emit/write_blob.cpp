// write_blob.cpp -- lays the sections out, seals the checksums; the weights: packed_weights.h. Contract: write_blob.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/write_blob.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>

#include "compiler/emit/blob_checksum.h"
#include "compiler/emit/blob_section.h"
#include "compiler/emit/integer_layer.h"
#include "compiler/emit/packed_weights.h"
#include "compiler/emit/winograd_choice.h"
#include "compiler/ir/memory.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/problem.h"
#include "format/recurrent_panels.h"
#include "pack/winograd.h"

namespace rnnp::compiler {
namespace {

// Of convolutions of one channel in and out per group.
constexpr uint32_t kRowFormat = 4;
const PanelFormat kChannelPanels = find_panel_format(kRowFormat);

class BlobWriter {
 public:
  BlobWriter(const Graph &graph, bool frees, const PanelFormat &panels, Scales bytes)
      : graph_(graph),
        frees_(frees),
        id_(model_id(graph)),
        macs_(macs_per_step(graph)),
        plan_(plan_memory(graph)),
        weights_(panels, bytes) {}

  std::vector<uint8_t> write() {
    strings_.append("", 1);
    write_values();
    for (const PersistentState &kept : graph_.states) state(kept.elems, {kept.init, false}, kept.name, 1, 0);
    for (const Node &node : graph_.nodes) write_node(node);
    write_ios(graph_.inputs, &inputs_);
    write_ios(graph_.outputs, &outputs_);
    write_metadata();
    return assemble();
  }

 private:
  uint32_t string(const std::string &text) {
    const auto found = string_at_.find(text);
    if (found != string_at_.end()) return found->second;
    const std::string clean = text.substr(0, text.find('\0'));
    return string_at_[text] = strings_.append(clean.c_str(), clean.size() + 1);
  }

  void write_metadata() {
    if (graph_.metadata.empty()) return;
    metadata_ = static_cast<uint32_t>(strings_.bytes().size());
    for (const auto &pair : graph_.metadata) {
      strings_.append(pair.first.c_str(), pair.first.size() + 1);
      strings_.append(pair.second.c_str(), pair.second.size() + 1);
    }
    strings_.append("", 1);
  }

  void write_values() {
    for (uint32_t i = 0; i < graph_.values.size(); ++i) {
      const Value &value = graph_.values[i];
      BlobValue out{};
      out.kind = static_cast<uint32_t>(value.kind);
      out.dtype = static_cast<uint32_t>(value.dtype);
      out.row_elems = value.elems;
      out.sequence = value.sequence;
      out.early = value.early;
      out.location = value.kind == ValueKind::kInput ? value.input : plan_.offset[i];
      if (value.kind == ValueKind::kConst) {
        out.location = value.dtype == DType::kI32 ? weights_.add(value.i32) : weights_.add(value.f32);
        done_with(value.f32);
      }
      values_.append(&out, sizeof out);
    }
  }

  void write_ios(const std::vector<Io> &ios, Section *section) {
    for (const Io &io : ios) {
      BlobIo out{};
      out.name = string(io.name);
      out.value = io.value;
      out.role = io.role;
      out.rank = static_cast<uint32_t>(io.dims.size());
      std::copy(io.dims.begin(), io.dims.end(), out.dims);
      out.limit = io.limit;
      section->append(&out, sizeof out);
    }
  }

  uint32_t state(uint32_t elems, const StateInit &init, const std::string &name, uint32_t buffers, uint32_t words) {
    BlobState out{};
    out.elems = elems;
    out.init = weights_.add_if_any(init.data);
    out.per_row = init.per_row;
    out.name = string(name);
    out.buffers = buffers;
    out.words = words;
    return static_cast<uint32_t>(states_.append(&out, sizeof out) / sizeof out);
  }

  // Matrices and vectors of one direction; without states.
  BlobDirection weights_of(const Recurrent &r, const Direction &d) {
    const uint32_t h = r.hidden_size, gates = gate_count(r.cell);
    BlobDirection out{};
    const bool split = candidate_is_apart(r.cell, weights_.panels_of(d.r_storage)), normed = r.cell == Cell::kLstmNorm;
    MatrixSource w = {d.w.data(), h, r.input_size, 0, gates}, of_h = {d.r.data(), h, h, 0, split ? 2 : gates};
    IntegerLayer fixed = {};
    if (d.is_integer_only()) {
      fixed = integer_layer(r, d, weights_.panels_of(d.w_storage));
      w.sum_worth = fixed.x_worth.data();
      of_h.sum_worth = fixed.h_worth.data();
    }
    out.w = weights_.matrix(d.w_storage, w);
    done_with(d.w);
    out.r = weights_.matrix(d.r_storage, of_h);
    of_h.gate_begin = 2;
    of_h.gates = 1;
    out.r_output = split ? weights_.matrix(d.r_storage, of_h) : kNone;
    done_with(d.r);
    out.bias = d.is_integer_only() ? weights_.add_if_any(fixed.bias) : weights_.vector(d.bias, h, gates);
    out.r_bias = d.is_integer_only() ? weights_.add_if_any(fixed.r_bias) : weights_.vector(d.r_bias, h, normed ? gates : 1);
    out.peephole = weights_.vector(d.peephole, h, 3);
    out.state_h = out.state_c = kNone;
    out.reverse = d.reverse;
    std::copy(std::begin(d.act), std::end(d.act), out.act);
    return out;
  }

  BlobDirection direction(const Recurrent &r, const Direction &d, const std::string &name) {
    const uint32_t h = r.hidden_size;
    BlobDirection out = weights_of(r, d);
    const std::string suffix = d.reverse ? ".reverse" : "";
    out.state_h = state(h, d.init_h, name + suffix + ".h", 2, 0);
    out.state_c = has_c(r.cell) ? state(h, d.init_c, name + suffix + ".c", 1, 0) : kNone;
    out.init_h = d.given_h;
    out.init_c = d.given_c;
    return out;
  }

  static AttrRecurrent shape_of(const Recurrent &r) {
    AttrRecurrent out{};
    out.cell = static_cast<uint32_t>(r.cell);
    out.input_size = r.input_size;
    out.hidden_size = r.hidden_size;
    out.direction_count = static_cast<uint32_t>(r.directions.size());
    out.flags = (r.input_forget ? kInputForget : 0) | (r.masked ? kMaskedSteps : 0);
    out.clip = r.clip;
    return out;
  }

  // A layer's attributes begin alike.
  union RecurrentWords {
    AttrIntegerRecurrent integer;
    AttrNormRecurrent norm;
  };

  RecurrentWords attr(const Recurrent &r, const Node &node) {
    RecurrentWords out = {};
    if (r.cell == Cell::kLstmNorm) {
      out.norm = {shape_of(r), r.norm_by_gate, r.keeps_c, {}};
    } else {
      out.integer = {shape_of(r), {}};
    }
    for (size_t i = 0; i < r.directions.size(); ++i) {
      const Direction &d = r.directions[i];
      const BlobDirection written = direction(r, d, node.name);
      (r.cell == Cell::kLstmNorm ? out.norm.layer : out.integer.layer).direction[i] = written;
      if (r.cell == Cell::kLstmNorm) out.norm.norm[i] = norms(d.norms, r.hidden_size);
      if (d.is_integer_only() && r.cell == Cell::kLstm) out.integer.c_bits[i] = d.c_bits;
    }
    return out;
  }

  BlobCellNorm norms(const CellNorms &n, uint32_t h) {
    return {weights_.vector(n.x_scale, h, 4),
            weights_.vector(n.h_scale, h, 4),
            weights_.vector(n.bias, h, 4),
            weights_.vector(n.c_scale, h, 1),
            weights_.vector(n.c_bias, h, 1),
            n.epsilons[0],
            n.epsilons[1],
            n.epsilons[2]};
  }

  AttrFeatureRecurrent attr(const FeatureRecurrent &inner, const Node &) {
    AttrFeatureRecurrent out{shape_of(inner.layer), inner.steps, inner.rows};
    for (size_t i = 0; i < inner.layer.directions.size(); ++i)
      out.layer.direction[i] = weights_of(inner.layer, inner.layer.directions[i]);
    return out;
  }

  AttrDense attr(const Dense &d, const Node &) {
    AttrDense out{};
    out.input_size = d.input_size;
    out.output_size = d.output_size;
    out.matrix = weights_.matrix(d.storage, {d.w.data(), d.output_size, d.input_size, 0, 1}, d.matrices);
    done_with(d.w);
    out.bias = weights_.vector(d.bias, d.output_size, 1, d.matrices);
    out.act = d.act;
    out.groups = d.groups;
    return out;
  }

  AttrNorm attr(const Norm &n, const Node &) {
    AttrNorm out{};
    out.outer = n.outer;
    out.elems = n.elems;
    out.centred = n.centred;
    out.per_outer = n.per_outer;
    out.epsilon = n.epsilon;
    out.scale = weights_.add_if_any(n.scale);
    out.bias = weights_.add_if_any(n.bias);
    return out;
  }

  AttrLoop attr(const StateRef &a, const Node &) { return {{a.state}, a.loop_nodes}; }

  AttrConv attr(const Conv &c, const Node &node) {
    AttrConv out = c.shape;
    const bool lines = c.winograd && out.y_plane == 0;
    const uint32_t count = c.is_depthwise() ? 1 : c.shape.groups, units = c.outputs() / count;
    const PanelFormat format = c.is_depthwise() ? kChannelPanels : weights_.panels_of(c.storage);
    if (lines) {
      const std::vector<float> points = winograd_weights(c);
      out.matrix = weights_.matrix(format, c.storage, {points.data(), units, out.time_taps * out.in_channels, 0, 1}, kLinePoints);
    } else if (c.winograd) {
      const std::vector<float> points = winograd_weights(c);
      out.matrix = weights_.matrix(format, c.storage, {points.data(), units, kWinogradPoints * out.in_channels, 0, 1});
    } else {
      out.matrix = weights_.matrix(format, c.is_depthwise() ? Storage() : c.storage, {c.w.data(), units, c.depth(), 0, 1}, count);
    }
    out.bias = weights_.vector(format, lines ? line_bias(c) : c.bias, units, 1, lines ? kLinePoints : count);
    done_with(c.w);
    out.state = kNone;
    if (out.lead > 0 && !c.reads_ahead()) {
      const uint64_t elems = uint64_t{static_cast<uint32_t>(out.lead)} * graph_.values[node.in[0]].elems + 1;
      if (elems > kMostBlobBytes / 4) throw ModelError("node " + quote(node.name) + " keeps more than 2 GiB of earlier steps");
      out.state = state(static_cast<uint32_t>(elems), {}, node.name + ".steps", 1, 1);
    }
    return out;
  }

  AttrTimeReduce attr(const AttrTimeReduce &a, const Node &node) {
    const uint64_t elems = 2 * uint64_t{graph_.values[node.out[0]].elems} + 2;
    return {a.op, state(static_cast<uint32_t>(elems), {}, node.name + ".so_far", 1, 2)};
  }

  AttrTimeStep attr(const AttrTimeStep &a, const Node &node) {
    const bool kept = a.last != 0 && graph_.causal;
    return {a.last, kept ? state(graph_.values[node.out[0]].elems, {}, node.name + ".last", 1, 0) : kNone};
  }

  AttrGather attr(const Gather &g, const Node &) {
    const AttrGather out = {g.rows, g.elems, g.count, weights_.add(g.table)};
    done_with(g.table);
    return out;
  }

  template <typename Plain>
  Plain attr(const Plain &a, const Node &) {
    static_assert(std::is_trivially_copyable_v<Plain>, "attributes with weights are packed");
    return a;
  }

  // Integer-only layers alone have what comes behind the others' attributes.
  template <typename Any, typename Bytes>
  static uint32_t attr_bytes(const Any &, const Bytes &bytes) {
    return sizeof bytes;
  }
  static uint32_t attr_bytes(const StateRef &a, const AttrLoop &loop) { return a.loop_nodes != 0 ? sizeof loop : sizeof loop.read; }
  static uint32_t attr_bytes(const Recurrent &r, const RecurrentWords &words) {
    if (r.cell == Cell::kLstmNorm) return sizeof words.norm;
    return r.directions[0].is_integer_only() ? sizeof words.integer : sizeof words.integer.layer;
  }

  uint32_t arguments(const std::vector<uint32_t> &list) {
    uint32_t first = static_cast<uint32_t>(args_.size());
    args_.insert(args_.end(), list.begin(), list.end());
    return first;
  }

  void write_node(const Node &node) {
    weights_.begin_node(node.name);
    BlobNode out{};
    out.op = static_cast<uint32_t>(node.op);
    out.input_first = arguments(node.in);
    out.input_count = static_cast<uint32_t>(node.in.size());
    out.output_first = arguments(node.out);
    out.output_count = static_cast<uint32_t>(node.out.size());
    out.name = string(node.name);
    std::visit(
        [&](const auto &a) {
          const auto bytes = attr(a, node);
          out.attr_bytes = attr_bytes(a, bytes);
          out.attr = attrs_.append(&bytes, out.attr_bytes);
        },
        node.attr);
    nodes_.append(&out, sizeof out);
  }

  std::vector<uint8_t> assemble() {
    BlobHeader h{};
    h.magic = kBlobMagic;
    h.version = kBlobVersion;
    h.header_bytes = sizeof h;
    h.align = kBlobAlign;
    h.flags = (graph_.causal ? kBlobCausal : 0u) | (graph_.causal && !graph_.states.empty() ? kBlobStepwise : 0u);
    h.stream_steps = graph_.stream_steps;
    h.model_id = id_;
    h.macs_per_step = macs_;
    h.fixed_batch = graph_.fixed_batch;
    h.panel_format = weights_.panels().id;
    h.metadata = metadata_;
    h.sequence_pool_elems = plan_.sequence_elems;
    h.row_pool_elems = plan_.row_elems;
    std::vector<uint8_t> file(sizeof h);
    const auto begin = [&](size_t bytes, size_t align) {
      file.resize((file.size() + align - 1) / align * align);
      if (file.size() + bytes > kMostBlobBytes) throw ModelError("the blob would be larger than 2 GiB");
      return BlobSection{static_cast<uint32_t>(file.size()), static_cast<uint32_t>(bytes)};
    };
    const auto add = [&](const std::vector<uint8_t> &bytes, size_t align) {
      const BlobSection section = begin(bytes.size(), align);
      file.insert(file.end(), bytes.begin(), bytes.end());
      return section;
    };
    Section args(8);
    args.append(args_.data(), args_.size() * sizeof(uint32_t));
    h.values = add(values_.bytes(), 8);
    h.nodes = add(nodes_.bytes(), 8);
    h.args = add(args.bytes(), 8);
    h.inputs = add(inputs_.bytes(), 8);
    h.outputs = add(outputs_.bytes(), 8);
    h.states = add(states_.bytes(), 8);
    h.matrices = add(weights_.matrices(), 8);
    h.attrs = add(attrs_.bytes(), 8);
    h.strings = add(strings_.bytes(), 8);
    h.weights = begin(weights_.size(), kBlobAlign);
    file.reserve(file.size() + weights_.size() + kBlobAlign);
    weights_.move_to(&file);
    h.file_bytes = static_cast<uint32_t>(file.size());
    std::memcpy(file.data(), &h, sizeof h);
    h.tables_crc = crc32_of(file.data(), h.weights.offset);
    h.weights_crc = crc32_of(file.data() + h.weights.offset, h.weights.bytes);
    std::memcpy(file.data(), &h, sizeof h);
    return file;
  }

  // What is in the blob now. A graph whose weights may go is no constant one (write_blob_and_free).
  void done_with(const std::vector<float> &numbers) const {
    if (frees_) const_cast<std::vector<float> &>(numbers) = std::vector<float>();
  }

  const Graph &graph_;
  const bool frees_;
  const uint64_t id_, macs_;
  const MemoryPlan plan_;
  PackedWeights weights_;
  Section values_{8}, nodes_{8}, inputs_{8}, outputs_{8}, states_{8}, attrs_{8}, strings_{1};
  uint32_t metadata_ = 0;
  std::vector<uint32_t> args_;
  std::map<std::string, uint32_t> string_at_;
};

}  // namespace

static void check_counts(const Graph &graph) {
  if (graph.nodes.size() > kBlobMaxNodes)
    throw ModelError("the graph has " + std::to_string(graph.nodes.size()) + " nodes; accepted: up to " +
                     std::to_string(kBlobMaxNodes));
  if (graph.values.size() > kBlobMaxValues)
    throw ModelError("the graph has " + std::to_string(graph.values.size()) + " values; accepted: up to " +
                     std::to_string(kBlobMaxValues));
}

std::vector<uint8_t> write_blob(const Graph &graph, const PanelFormat &panels, Scales bytes) {
  check_counts(graph);
  return BlobWriter(graph, false, panels, bytes).write();
}

std::vector<uint8_t> write_blob_and_free(Graph *graph, const PanelFormat &panels, Scales bytes) {
  check_counts(*graph);
  return BlobWriter(*graph, true, panels, bytes).write();
}

}  // namespace rnnp::compiler
