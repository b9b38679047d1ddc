// generated_blob.cpp -- see generated_blob.h: the grammar of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "generated_blob.h"

#include "generated_layers.h"

namespace rnnp_fuzz {
namespace {

class BlobGenerator : GeneratedLayers {
 public:
  BlobGenerator(ByteSource *c, Outputs outputs)
      : GeneratedLayers(c, outputs == Outputs::kSmooth), defined_(outputs != Outputs::kAny) {}

  BlobTables grow() {
    t_.header.magic = kBlobMagic;
    t_.header.version = kBlobVersion;
    t_.header.header_bytes = sizeof(BlobHeader);
    t_.header.align = kBlobAlign;
    nr_ = c_.of({16u, 16u, 8u, 4u});
    t_.header.panel_format = rnnp_test::format_of_nr(nr_);
    t_.header.model_id = 7;
    t_.header.macs_per_step = c_.of<uint64_t>({0, 1000, 1 << 20, UINT64_MAX});
    t_.header.stream_steps = c_.once_in(8) ? c_.of({1u, 4u, 1u << 20}) : 0;
    causal_ = !c_.once_in(3);
    stepwise_ = causal_ && c_.once_in(6);
    t_.add_string("");
    for (int i = 0; i < 64; ++i) constant_pool_.push_back(c_.real());
    add_inputs();
    const uint32_t nodes = c_.range(1, 8);
    for (uint32_t i = 0; i < nodes; ++i) add_node();
    for (const uint32_t s : kept_) {
      if (stepwise_) write_state(s);
    }
    add_outputs();
    t_.header.flags = (causal_ ? uint32_t(kBlobCausal) : 0u) | (stepwise_ || (causal_ && loops_) ? uint32_t(kBlobStepwise) : 0u);
    join_weights();
    return std::move(t_);
  }

 private:
  // --- Nodes ---------------------------------------------------------------------------------------------------------------------

  void add_node() {
    switch (c_.below(19)) {
      case 0:
      case 1:
      case 2:
        return recurrent();
      case 3:
        return dense();
      case 4:
        return unary();
      case 5:
      case 6:
        return binary();
      case 7:
        return softmax();
      case 8:
        return copy();
      case 9:
        return in_loop() ? unary() : time_step();
      case 10:
        return conv();
      case 11:
        return pool();
      case 12:
        return reduce();
      case 13:
        return norm();
      case 14:
        return where();
      case 15:
        return matmul();
      case 16:
        if (in_loop()) return gather();
        return c_.once_in(2) ? time_reduce() : c_.once_in(2) ? time_reverse() : gather();
      case 17:
        return feature_recurrent();
      default:
        return state_read();
    }
  }

  void unary() {
    const uint32_t x = any();
    add(OpKind::kUnary, AttrUnary{activation(true)}, {x}, {result(elems(x), {x})});
  }

  // An operand for n numbers over dims: a value as it is, its one element for all, or a constant.
  uint32_t broadcast(uint32_t rank, const uint32_t *dims, uint32_t n, bool *one) {
    const uint32_t v = any_operand();
    *one = elems(v) != n;
    (void)rank;
    (void)dims;
    return c_.once_in(6) ? (*one = false, add_const(n)) : v;
  }

  void binary() {
    const uint32_t a = any(), n = elems(a);
    AttrBinary t = {};
    t.op = c_.below(uint32_t(Binary::kPRelu) + 1);
    t.rank = factors(n, t.dims);
    dense_strides(t.rank, t.dims, t.a_stride);
    bool one;
    const uint32_t b = broadcast(t.rank, t.dims, n, &one);
    if (!one) dense_strides(t.rank, t.dims, t.b_stride);
    add(OpKind::kBinary, t, {a, b}, {result(n, {a, b})});
  }

  void softmax() {
    const uint32_t x = any();
    uint32_t dims[3] = {1, 1, 1};
    factors(elems(x), dims);
    add(OpKind::kSoftmax, AttrSoftmax{dims[0], dims[1], dims[2], c_.below(2)}, {x}, {result(elems(x), {x})});
  }

  // All of x, in another order or backwards, into a part of y.
  void copy() {
    const uint32_t x = c_.once_in(6) && !in_loop() ? add_const(c_.range(1, kMostElems)) : any();
    AttrCopy a = {};
    a.rank = factors(elems(x), a.dims);
    dense_strides(a.rank, a.dims, a.x_stride);
    dense_strides(a.rank, a.dims, a.y_stride);
    if (c_.once_in(2)) {  // the first axis backwards
      a.x_first = (a.dims[0] - 1) * static_cast<uint32_t>(a.x_stride[0]);
      a.x_stride[0] = -a.x_stride[0];
    }
    a.y_first = defined_ ? 0 : c_.below(4);
    const uint32_t more = defined_ ? 0 : c_.below(4);
    add(OpKind::kCopy, a, {x}, {result(elems(x) + a.y_first + more, {x})});
  }

  void time_step() {
    const uint32_t x = any_of(true);
    if (x == kNone) return;
    const AttrTimeStep a = {causal_ ? 1u : c_.below(2), causal_ ? add_empty_state(elems(x), 0) : kNone};
    add(OpKind::kTimeStep, a, {x}, {add_made(elems(x), false, false)});
  }

  // One axis w of a row, channels side by side.
  BlobWindow window(uint32_t in, uint32_t channels, uint32_t out_channels) {
    BlobWindow w = {{1, in}, {1, 1},           {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {0, static_cast<int32_t>(channels), 1},
                    0,       {0, out_channels}};
    w.kernel[1] = c_.range(1, 3);
    w.stride[1] = c_.range(1, 2);
    w.dilation[1] = c_.range(1, 2);
    w.pad[1] = static_cast<int32_t>(c_.below(3));
    const uint32_t reach = (w.kernel[1] - 1) * w.dilation[1], room = in + 2 * static_cast<uint32_t>(w.pad[1]);
    w.out_size[1] = room > reach ? (room - reach - 1) / w.stride[1] + 1 : 1;
    w.y_stride[0] = w.out_size[1] * out_channels;
    return w;
  }

  void conv() {
    const uint32_t x = any();
    uint32_t channels = c_.range(1, 6);
    while (elems(x) % channels != 0) --channels;
    AttrConv a = {};
    const bool depthwise = c_.once_in(2);
    a.groups = depthwise || c_.once_in(3) ? channels : 1;
    a.in_channels = channels / a.groups;
    a.out_channels = depthwise ? 1 : c_.range(1, 4);
    const uint32_t outputs = a.groups * a.out_channels;
    a.window = window(elems(x) / channels, channels, outputs);
    a.time_taps = 1;
    a.time_dilation = 1;
    a.state = kNone;
    if (value(x).sequence != 0 && c_.once_in(2)) {
      a.time_taps = c_.range(1, 3);
      a.time_dilation = c_.range(1, 2);
      const uint32_t reach = (a.time_taps - 1) * a.time_dilation;
      a.lead = static_cast<int32_t>(causal_ || in_loop() ? reach : c_.below(reach + 1));
      if (a.lead > 0 && static_cast<uint32_t>(a.lead) == reach) a.state = add_empty_state(reach * elems(x), 1);
    }
    const uint32_t depth = a.time_taps * a.window.kernel[1] * a.in_channels;
    if (depthwise) {
      a.matrix = t_.add_matrix(rnnp_test::format_of_nr(0), 1, outputs, depth, weights(uint64_t{outputs} * depth));
    } else {
      a.matrix = matrix(1, a.out_channels, depth, a.groups);
    }
    a.bias = maybe_weights(depthwise ? outputs : uint64_t{padded(a.out_channels)} * a.groups);
    a.act = activation();
    add(OpKind::kConv, a, {x}, {result(a.window.out_size[1] * outputs, {x})});
  }

  void pool() {
    const uint32_t x = any();
    AttrPool a = {};
    a.pool = c_.below(2);
    a.channels = c_.range(1, 4);
    while (elems(x) % a.channels != 0) --a.channels;
    a.window = window(elems(x) / a.channels, a.channels, a.channels);
    a.counted_before[1] = c_.below(3);
    a.counted_after[1] = c_.below(3);
    add(OpKind::kPool, a, {x}, {result(a.window.out_size[1] * a.channels, {x})});
  }

  void reduce() {
    const uint32_t x = any();
    uint32_t dims[3] = {1, 1, 1};
    const uint32_t rank = factors(elems(x), dims), over = c_.below(rank);
    int32_t stride[3] = {};
    dense_strides(rank, dims, stride);
    AttrReduce a = {};
    a.op = c_.below(uint32_t(Reduce::kLogSumExp) + 1);
    uint32_t kept = 1;
    for (uint32_t i = 0; i < rank; ++i) {
      if (i == over) continue;
      a.kept_dims[a.kept_rank] = dims[i];
      a.kept_stride[a.kept_rank++] = stride[i];
      kept *= dims[i];
    }
    a.over_rank = 1;
    a.over_dims[0] = dims[over];
    a.over_stride[0] = stride[over];
    add(OpKind::kReduce, a, {x}, {result(kept, {x})});
  }

  void norm() {
    const uint32_t x = any();
    uint32_t outer = c_.range(1, 3);
    while (elems(x) % outer != 0) --outer;
    AttrNorm a = {outer, elems(x) / outer, c_.below(2), c_.below(2), 1e-5f, 0, 0};
    a.scale = maybe_weights(a.per_outer != 0 ? a.outer : a.elems);
    a.bias = maybe_weights(a.per_outer != 0 ? a.outer : a.elems);
    add(OpKind::kNorm, a, {x}, {result(elems(x), {x})});
  }

  void where() {
    const uint32_t a = any(), n = elems(a);
    AttrWhere w = {};
    w.rank = factors(n, w.dims);
    dense_strides(w.rank, w.dims, w.stride[1]);
    std::vector<uint32_t> in = {a, a, a};
    for (const uint32_t i : {0u, 2u}) {
      bool one;
      in[i] = broadcast(w.rank, w.dims, n, &one);
      if (!one) dense_strides(w.rank, w.dims, w.stride[i]);
    }
    add(OpKind::kWhere, w, in, {result(n, in)});
  }

  void matmul() {
    const uint32_t a = any(), b = any_operand();
    AttrMatMul t = {};
    t.k = c_.range(1, 4);
    while (elems(a) % t.k != 0 || elems(b) % t.k != 0) --t.k;
    t.m = elems(a) / t.k;
    t.n = elems(b) / t.k;
    if (t.m * t.n > 64) return;
    t.a.row = static_cast<int32_t>(t.k);
    t.a.column = 1;
    const bool columns = c_.once_in(2);
    t.b.row = columns ? static_cast<int32_t>(t.n) : 1;
    t.b.column = columns ? 1 : static_cast<int32_t>(t.k);
    add(OpKind::kMatMul, t, {a, b}, {result(t.m * t.n, {a, b})});
  }

  void time_reduce() {
    const uint32_t x = any_of(true);
    if (x == kNone) return;
    const AttrTimeReduce a = {c_.below(uint32_t(Reduce::kProd) + 1), add_empty_state(2 * elems(x), 2)};
    add(OpKind::kTimeReduce, a, {x}, {add_made(elems(x), false, false)});
  }

  void time_reverse() {
    const uint32_t x = any_of(true);
    if (x == kNone || causal_) return;
    add(OpKind::kTimeReverse, AttrTimeReverse{0}, {x, lengths()}, {add_made(elems(x), true, false)});
  }

  void gather() {
    if (indices_ == kNone) return;
    AttrGather a = {};
    a.rows = t_.inputs[value(indices_).location].limit + c_.below(2);
    a.elems = c_.range(1, 6);
    a.count = elems(indices_);
    a.table = weights(uint64_t{a.rows} * a.elems);
    add(OpKind::kGather, a, {indices_}, {add_made(a.count * a.elems, true, false)});
  }

  void state_read() {
    if (!stepwise_ && !in_loop()) return loop();
    const uint32_t n = c_.range(1, kMostElems), s = add_state(n, 1);
    kept_.push_back(s);
    add(OpKind::kStateRead, AttrState{s}, {}, {add_made(n, true, false)});
  }

  void write_state(uint32_t s) {
    for (const uint32_t v : operands_) {
      if (value(v).sequence == 0 || elems(v) != t_.states[s].elems) continue;
      t_.add_node(OpKind::kStateWrite, AttrState{s}, {v, lengths()}, {});
      break;
    }
  }

  // Begins with a state_read, may have others, and writes their states or does not.
  void loop() {
    const uint32_t n = c_.range(1, kMostElems), s = add_state(n, 1);
    const size_t head = t_.nodes.size();
    begin_loop();
    const std::vector<uint32_t> in = c_.once_in(4) ? std::vector<uint32_t>{add_input(RNNP_ROLE_STATE, n)} : std::vector<uint32_t>();
    const uint32_t before = add_made(n, true, false);
    kept_ = {s};
    add(OpKind::kStateRead, AttrLoop{{s}, 0}, in, {before});
    for (uint32_t i = c_.range(1, 4); i > 0; --i) add_node();
    if (has(operands_, before) && c_.once_in(2)) {  // of the size that the state has
      const uint32_t x = any_of(true);
      add(OpKind::kBinary, AttrBinary{uint32_t(Binary::kMin), 1, {n}, {1}, {elems(x) == n ? 1u : 0u}}, {before, x},
          {result(n, {before, x})});
    }
    for (const uint32_t kept : kept_) write_state(kept);
    t_.set_attr(t_.nodes[head], AttrLoop{{s}, static_cast<uint32_t>(t_.nodes.size() - head)});
    end_loop();
    loops_ = true;
  }

  void add_outputs() {
    std::vector<uint32_t> made;
    for (const uint32_t v : operands_) {
      if (value(v).kind <= uint32_t(ValueKind::kRow)) made.push_back(v);
    }
    if (made.empty()) return;
    t_.add_output(made.back());
    for (size_t i = 0; i + 1 < made.size() && t_.outputs.size() < 4; ++i) {
      if (c_.once_in(3)) t_.add_output(made[i]);
    }
  }

  bool defined_, loops_ = false;
};

}  // namespace

BlobTables generated_blob(ByteSource *choices, Outputs outputs) {
  return BlobGenerator(choices, outputs).grow();
}

}  // namespace rnnp_fuzz
