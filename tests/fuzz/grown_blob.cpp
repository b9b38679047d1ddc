// grown_blob.cpp -- see grown_blob.h.
// SPDX-License-Identifier: Apache-2.0
#include "grown_blob.h"

#include <algorithm>

#include "rnnpack/rnnpack.h"

namespace rnnp_fuzz {
namespace {

using namespace rnnp;
using rnnp_test::BlobTables;

constexpr uint32_t kMostElems = 24;

class Grower {
 public:
  explicit Grower(ByteSource *c) : c_(*c) {}

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
    if (stepwise_) write_states();
    add_outputs();
    t_.header.flags = (causal_ ? uint32_t(kBlobCausal) : 0u) | (stepwise_ ? uint32_t(kBlobStepwise) : 0u);
    t_.weights.resize((t_.weights.size() + 63) / 64 * 64);
    return std::move(t_);
  }

 private:
  const BlobValue &value(uint32_t v) const { return t_.values[v]; }
  uint32_t elems(uint32_t v) const { return value(v).row_elems; }

  // --- Values ----------------------------------------------------------------------------------------------------------------

  uint32_t add_input(uint32_t role, uint32_t n, uint32_t limit = 0) {
    const bool sequence = role == RNNP_ROLE_SEQUENCE, ints = role == RNNP_ROLE_LENGTHS || limit != 0;
    const uint32_t index = static_cast<uint32_t>(t_.inputs.size());
    const uint32_t v = t_.add_value({uint32_t(ValueKind::kInput), ints ? 1u : 0u, n, index, sequence ? 1u : 0u, 0});
    BlobIo io = {t_.add_string("in"), v, role, 2, {RNNP_DIM_BATCH, static_cast<int32_t>(n)}, limit, 0};
    if (sequence) io = {io.name, v, role, 3, {RNNP_DIM_STEPS, RNNP_DIM_BATCH, static_cast<int32_t>(n)}, limit, 0};
    if (role == RNNP_ROLE_LENGTHS) io.rank = 1, io.dims[1] = 0;
    t_.inputs.push_back(io);
    return v;
  }

  void add_inputs() {
    operands_.push_back(add_input(RNNP_ROLE_SEQUENCE, c_.range(1, kMostElems)));
    if (c_.once_in(4)) operands_.push_back(add_input(RNNP_ROLE_SEQUENCE, c_.range(1, kMostElems)));
    if (c_.once_in(4)) operands_.push_back(add_input(RNNP_ROLE_ROW, c_.range(1, kMostElems)));
    if (c_.once_in(6)) indices_ = add_input(RNNP_ROLE_SEQUENCE, c_.range(1, 3), c_.range(1, 5));
  }

  uint32_t lengths() {
    if (!c_.once_in(3)) return kNone;
    if (lengths_ == kNone) lengths_ = add_input(RNNP_ROLE_LENGTHS, 1);
    return lengths_;
  }

  uint32_t add_const(uint32_t n) { return t_.add_value({uint32_t(ValueKind::kConst), 0, n, weights(n), 0, 0}); }

  // A new value of a pool, now and then where a value lay that may no longer be needed.
  uint32_t add_made(uint32_t n, bool sequence, bool early) {
    uint32_t &pool = sequence ? t_.header.sequence_pool_elems : t_.header.row_pool_elems;
    uint32_t at = pool;
    const uint32_t other = c_.below(static_cast<uint32_t>(t_.values.size()));
    const BlobValue &old = t_.values[other];
    const bool same_pool = old.kind == uint32_t(sequence ? ValueKind::kSequence : ValueKind::kRow);
    if (same_pool && old.row_elems == n && reuse_ && std::find(operands_.begin(), operands_.end(), other) == operands_.end())
      at = old.location;
    if (at == pool) pool += (n + 15) / 16 * 16;
    return t_.add_value(
        {uint32_t(sequence ? ValueKind::kSequence : ValueKind::kRow), 0, n, at, sequence ? 1u : 0u, early ? 1u : 0u});
  }

  uint32_t any() { return operands_[c_.below(static_cast<uint32_t>(operands_.size()))]; }
  // Of one kind: steps or not; kNone when there is none.
  uint32_t any_of(bool sequence) {
    const uint32_t first = c_.below(static_cast<uint32_t>(operands_.size()));
    for (size_t i = 0; i < operands_.size(); ++i) {
      const uint32_t v = operands_[(first + i) % operands_.size()];
      if ((value(v).sequence != 0) == sequence) return v;
    }
    return kNone;
  }
  bool is_late(uint32_t v) const { return value(v).kind == uint32_t(ValueKind::kRow) && value(v).early == 0; }

  // The result of operands that may be rows: per step when one of them is, early when all are.
  uint32_t result(uint32_t n, const std::vector<uint32_t> &from) {
    bool sequence = false, late = false;
    for (const uint32_t v : from) {
      sequence = sequence || value(v).sequence != 0;
      late = late || is_late(v);
    }
    if (sequence && late) causal_ = false;
    if (!causal_) stepwise_ = false;
    return add_made(n, sequence, !sequence && !late);
  }

  template <class T>
  void add(OpKind op, const T &attr, const std::vector<uint32_t> &in, const std::vector<uint32_t> &out) {
    t_.add_node(op, attr, in, out);
    for (const uint32_t v : out) {
      if (v != kNone) operands_.push_back(v);
    }
    // Now and then an operand is read for the last time, and its memory is free.
    if (operands_.size() > 3 && c_.once_in(3)) operands_.erase(operands_.begin());
  }

  // --- Weights and attributes --------------------------------------------------------------------------------------------------

  // Arrays may lie in one another: the blob stays small, and a walk fast.
  uint32_t weights(uint64_t n) {
    const uint32_t at = 64 * c_.below(4);
    const size_t old = t_.weights.size();
    if (old < at + 4 * n) t_.weights.resize(at + 4 * n);
    for (size_t i = old; i < t_.weights.size(); i += 4) std::memcpy(t_.weights.data() + i, &constant_pool_[i / 4 % 61], 4);
    return at;
  }
  uint32_t maybe_weights(uint64_t n) { return c_.once_in(3) ? kNone : weights(n); }
  uint32_t padded(uint32_t units) const { return (units + nr_ - 1) / nr_ * nr_; }

  uint32_t matrix(uint32_t gates, uint32_t units, uint32_t k, uint32_t count = 1) {
    const uint32_t at = weights(uint64_t{padded(units)} * gates * k * count);
    return t_.add_matrix(rnnp_test::format_of_nr(nr_), gates, units, k, at, count);
  }

  BlobActivation activation(bool any_unary = false) {
    const uint32_t act = c_.once_in(2) ? c_.below(4) : c_.below(uint32_t(any_unary ? Act::kGeluTanh : kLastKernelAct) + 1);
    return {act, c_.real(), c_.real()};
  }

  uint32_t add_state(uint32_t n, uint32_t buffers) {
    BlobState s = {n, kNone, 0, t_.add_string("state"), buffers, 0};
    if (c_.once_in(3)) s.init = weights(n);
    t_.states.push_back(s);
    return static_cast<uint32_t>(t_.states.size() - 1);
  }

  // Operand kept in a state that is empty at the start.
  // Of n floats and so many words behind them.
  uint32_t add_empty_state(uint32_t n, uint32_t words) {
    const uint32_t s = add_state(n + words, 1);
    t_.states[s].init = kNone;
    t_.states[s].words = words;
    return s;
  }

  // Splits n into up to three factors.
  uint32_t factors(uint32_t n, uint32_t *dims) {
    uint32_t rank = 0;
    while (rank < 2 && n > 1 && c_.once_in(2)) {
      uint32_t f = c_.range(1, n);
      while (n % f != 0) --f;
      dims[rank++] = f;
      n /= f;
    }
    dims[rank++] = n;
    return rank;
  }
  template <class S>
  static void dense_strides(uint32_t rank, const uint32_t *dims, S *stride) {
    uint32_t step = 1;
    for (uint32_t i = rank; i-- > 0;) {
      stride[i] = static_cast<S>(step);
      step *= dims[i];
    }
  }

  // --- Nodes ---------------------------------------------------------------------------------------------------------------------

  void add_node() {
    switch (c_.below(18)) {
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
        return time_step();
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
        return c_.once_in(2) ? time_reduce() : gather();
      default:
        return state_read();
    }
  }

  BlobDirection direction(const AttrRecurrent &a, bool reverse) {
    static constexpr uint32_t kGates[] = {1, 4, 3, 3};
    const uint32_t gates = kGates[a.cell], units = padded(a.hidden_size);
    const bool lstm = a.cell == uint32_t(Cell::kLstm);
    BlobDirection d = {};
    const bool split = a.cell == uint32_t(Cell::kGru);
    d.w = matrix(gates, a.hidden_size, a.input_size);
    d.r = matrix(split ? 2 : gates, a.hidden_size, a.hidden_size);
    d.r_output = split ? matrix(1, a.hidden_size, a.hidden_size) : kNone;
    d.bias = weights(uint64_t{units} * gates);
    d.r_bias = a.cell == uint32_t(Cell::kGruLinear) ? weights(units) : kNone;
    d.peephole = lstm && c_.once_in(3) ? weights(uint64_t{units} * 3) : kNone;
    d.state_h = add_state(a.hidden_size, 2);
    d.state_c = lstm ? add_state(a.hidden_size, 1) : kNone;
    d.reverse = reverse;
    const bool plain = c_.once_in(2);
    const Act defaults[4][3] = {{Act::kTanh, Act::kIdentity, Act::kIdentity},
                                {Act::kSigmoid, Act::kTanh, Act::kTanh},
                                {Act::kSigmoid, Act::kTanh, Act::kIdentity},
                                {Act::kSigmoid, Act::kTanh, Act::kIdentity}};
    for (int i = 0; i < 3; ++i) d.act[i] = plain ? BlobActivation{uint32_t(defaults[a.cell][i]), 0, 0} : activation();
    return d;
  }

  // A row that a direction's H values are taken out of.
  uint32_t initial(const AttrRecurrent &a, uint32_t d_count, BlobStrided *at) {
    if (!c_.once_in(3)) return kNone;
    const uint32_t stride = c_.range(1, 2), n = d_count * stride * a.hidden_size;
    at[0] = {0, stride};
    at[1] = {stride * a.hidden_size, stride};
    if (!causal_ && c_.once_in(2)) {
      const uint32_t v = any_of(false);
      if (v != kNone && elems(v) >= n) return v;
    }
    return c_.once_in(4) ? add_input(RNNP_ROLE_ROW, n) : add_input(RNNP_ROLE_STATE, n);
  }

  void recurrent() {
    const uint32_t x = any_of(true);
    if (x == kNone) return;
    AttrRecurrent a = {};
    a.cell = c_.below(4);
    a.input_size = elems(x);
    a.hidden_size = c_.range(1, c_.once_in(8) ? 34 : 8);
    a.direction_count = !causal_ && c_.once_in(2) ? 2 : 1;
    a.input_forget = a.cell == uint32_t(Cell::kLstm) && c_.once_in(6);
    a.clip = c_.once_in(6) ? 0.5f : 0.0f;
    for (uint32_t d = 0; d < a.direction_count; ++d) a.direction[d] = direction(a, !causal_ && c_.once_in(2));
    const bool lstm = a.cell == uint32_t(Cell::kLstm);
    BlobStrided h[2] = {{0, 1}, {0, 1}}, c[2] = {{0, 1}, {0, 1}};
    const uint32_t init_h = initial(a, a.direction_count, h), init_c = lstm ? initial(a, a.direction_count, c) : kNone;
    for (uint32_t d = 0; d < 2; ++d) a.direction[d].init_h = h[d], a.direction[d].init_c = c[d];
    const uint32_t width = a.direction_count * a.hidden_size;
    const uint32_t y = c_.once_in(8) ? kNone : add_made(width, true, false);
    const uint32_t y_h = c_.once_in(3) ? add_made(width, false, false) : kNone;
    const uint32_t y_c = lstm && c_.once_in(3) ? add_made(width, false, false) : kNone;
    add(OpKind::kRecurrent, a, {x, init_h, init_c, lengths()}, {y, y_h, y_c});
  }

  void dense() {
    const uint32_t x = any();
    uint32_t groups = c_.once_in(3) ? c_.range(1, elems(x)) : 1;
    while (elems(x) % groups != 0) --groups;
    AttrDense a = {elems(x) / groups, c_.range(1, 20), 0, 0, activation(), groups};
    const uint32_t matrices = c_.once_in(2) ? groups : 1;
    a.matrix = matrix(1, a.output_size, a.input_size, matrices);
    a.bias = maybe_weights(uint64_t{padded(a.output_size)} * matrices);
    add(OpKind::kDense, a, {x}, {result(a.output_size * groups, {x})});
  }

  void unary() {
    const uint32_t x = any();
    add(OpKind::kUnary, AttrUnary{activation(true)}, {x}, {result(elems(x), {x})});
  }

  // An operand for n numbers over dims: a value as it is, its one element for all, or a constant.
  uint32_t broadcast(uint32_t rank, const uint32_t *dims, uint32_t n, bool *one) {
    const uint32_t v = any();
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
    const uint32_t x = c_.once_in(6) ? add_const(c_.range(1, kMostElems)) : any();
    AttrCopy a = {};
    a.rank = factors(elems(x), a.dims);
    dense_strides(a.rank, a.dims, a.x_stride);
    dense_strides(a.rank, a.dims, a.y_stride);
    if (c_.once_in(2)) {  // the first axis backwards
      a.x_first = (a.dims[0] - 1) * static_cast<uint32_t>(a.x_stride[0]);
      a.x_stride[0] = -a.x_stride[0];
    }
    a.y_first = c_.below(4);
    const uint32_t more = c_.below(4);
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
      a.lead = static_cast<int32_t>(causal_ ? reach : c_.below(reach + 1));
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
    const uint32_t a = any(), b = any();
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
    if (!stepwise_) return;
    const uint32_t n = c_.range(1, kMostElems), s = add_state(n, 1);
    kept_.push_back(s);
    add(OpKind::kStateRead, AttrState{s}, {}, {add_made(n, true, false)});
  }

  void write_states() {
    for (const uint32_t s : kept_) {
      for (const uint32_t v : operands_) {
        if (value(v).sequence == 0 || elems(v) != t_.states[s].elems) continue;
        t_.add_node(OpKind::kStateWrite, AttrState{s}, {v, lengths()}, {});
        break;
      }
    }
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

  ByteSource &c_;
  BlobTables t_;
  uint32_t nr_ = 16, lengths_ = kNone, indices_ = kNone;
  bool causal_ = true, stepwise_ = false, reuse_ = true;
  std::vector<float> constant_pool_;
  std::vector<uint32_t> operands_, kept_;  // values that nodes may read; states read by a node
};

uint32_t odd_number(ByteSource *c, uint32_t old) {
  switch (c->below(6)) {
    case 0:
      return old + c->of({1u, 0xffffffffu, 16u, 0xfffffff0u, 64u});
    case 1:
      return c->of({0u, 1u, 2u, 3u, 4u, 5u, 8u, 16u});
    case 2:
      return c->of({0xffffffffu, 0x7fffffffu, 0x80000000u, 0x40000000u, 0xfffffff0u, 0x00010000u, 0x10000000u});
    case 3:
      return old ^ (1u << c->below(32));
    case 4:
      return c->below(32);
    default:
      return c->word();
  }
}

template <class T>
void forge_rows(std::vector<T> *rows, ByteSource *c) {
  if (rows->empty()) return;
  auto *bytes = reinterpret_cast<uint8_t *>(rows->data());
  const uint32_t words = static_cast<uint32_t>(rows->size() * sizeof(T) / 4);
  if (words == 0) return;
  const uint32_t at = c->below(words) * 4;
  uint32_t v;
  std::memcpy(&v, bytes + at, sizeof v);
  v = odd_number(c, v);
  std::memcpy(bytes + at, &v, sizeof v);
}

void forge_header(BlobHeader *h, ByteSource *c) {
  uint32_t *const fields[] = {&h->flags,          &h->fixed_batch, &h->panel_format, &h->reserved, &h->sequence_pool_elems,
                              &h->row_pool_elems, &h->stream_steps};
  uint32_t *field = fields[c->below(7)];
  *field = odd_number(c, *field);
}

}  // namespace

BlobTables grown_blob(ByteSource *choices) {
  return Grower(choices).grow();
}

void forge(BlobTables *t, ByteSource *c) {
  const uint32_t count = c->range(1, 4);
  for (uint32_t i = 0; i < count; ++i) {
    switch (c->below(18)) {
      case 0:
        forge_header(&t->header, c);
        break;
      case 1:
      case 2:
        forge_rows(&t->values, c);
        break;
      case 3:
      case 4:
        forge_rows(&t->nodes, c);
        break;
      case 5:
      case 6:
        if (!t->args.empty())
          t->args[c->below(static_cast<uint32_t>(t->args.size()))] = c->below(static_cast<uint32_t>(t->values.size()) + 2);
        break;
      case 7:
        forge_rows(&t->inputs, c);
        break;
      case 8:
        forge_rows(&t->outputs, c);
        break;
      case 9:
        forge_rows(&t->states, c);
        break;
      case 10:
        if (!t->values.empty()) t->add_output(c->below(static_cast<uint32_t>(t->values.size())));
        break;
      case 11:
        if (t->nodes.size() > 1) std::swap(t->nodes[c->below(static_cast<uint32_t>(t->nodes.size()))], t->nodes[0]);
        break;
      case 12:
        if (!t->values.empty()) t->values[c->below(static_cast<uint32_t>(t->values.size()))].location = c->below(8) * 16;
        break;
      case 13:
      case 14:
        forge_rows(&t->matrices, c);
        break;
      default:
        forge_rows(&t->attrs, c);
    }
  }
}

}  // namespace rnnp_fuzz
