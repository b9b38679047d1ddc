// generated_values.h -- what the nodes of a generated blob are made of: values in memory used again, weights that lie in one
// another, states, shapes. Room: tests/fuzz; generated_blob.cpp makes nodes of it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_GENERATED_VALUES_H_
#define RNNPACK_TESTS_FUZZ_GENERATED_VALUES_H_

#include <algorithm>

#include "generated_blob.h"
#include "pack/pack.h"
#include "rnnpack/rnnpack.h"

namespace rnnp_fuzz {

using namespace rnnp;
using rnnp_test::BlobTables;

constexpr uint32_t kMostElems = 24;

class GeneratedValues {
 protected:
  GeneratedValues(ByteSource *c, bool smooth) : c_(*c), smooth_(smooth) {}

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
    if (c_.once_in(4)) operands_.push_back(add_input(RNNP_ROLE_PER_RUN, c_.range(1, kMostElems)));
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
    const bool named = has(operands_, other) || (in_loop() && has(loop_.named, other));
    if (same_pool && old.row_elems == n && reuse_ && !named) {
      at = old.location;
      if (in_loop() && other >= loop_.first_value) loop_.inside.push_back(static_cast<uint32_t>(t_.values.size()));
    }
    if (at == pool) pool += (n + 15) / 16 * 16;
    return t_.add_value(
        {uint32_t(sequence ? ValueKind::kSequence : ValueKind::kRow), 0, n, at, sequence ? 1u : 0u, early ? 1u : 0u});
  }

  // A loop under way: values from outside live as long as it does.
  struct LoopUnderWay {
    bool begun = false;
    uint32_t first_value = 0;
    std::vector<uint32_t> named;   // values from outside that its nodes may have named
    std::vector<uint32_t> inside;  // values that lie where another of the loop lay: they do not leave it
    std::vector<uint32_t> rows;    // what its layers end with: known behind it
  };
  bool in_loop() const { return loop_.begun; }
  static bool has(const std::vector<uint32_t> &list, uint32_t v) { return std::find(list.begin(), list.end(), v) != list.end(); }

  void begin_loop() {
    loop_ = {};
    loop_.begun = true;
    loop_.first_value = static_cast<uint32_t>(t_.values.size());
    loop_.named = operands_;
  }
  void end_loop() {
    loop_.begun = false;
    const auto stays = [&](uint32_t v) { return has(loop_.inside, v); };
    operands_.erase(std::remove_if(operands_.begin(), operands_.end(), stays), operands_.end());
    operands_.insert(operands_.end(), loop_.rows.begin(), loop_.rows.end());
  }

  uint32_t any_operand() { return operands_[c_.below(static_cast<uint32_t>(operands_.size()))]; }
  // What a node's result is shaped by: of steps in a loop, whose first value is always there.
  uint32_t any() { return in_loop() ? any_of(true) : any_operand(); }
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
      if (v == kNone) continue;
      (in_loop() && value(v).sequence == 0 ? loop_.rows : operands_).push_back(v);
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

  // Of low precision or sparse now and then, for `count` matrices of one size; nullptr: dense f32. Integer-only layers are not
  // made.
  const PanelFormat *panel_format(uint32_t count) {
    if (!c_.once_in(3)) return nullptr;
    std::vector<const PanelFormat *> fit;
    for (const PanelFormat &f : kPanelFormats) {
      const bool special = f.scales == Scales::kIntegerOnly || f.scales == Scales::kSmlad || f.scales == Scales::kKMajor16;
      const bool plain = f.weight == DType::kF32 && f.index_bytes == 0;
      if (f.nr == nr_ && !special && !plain && (count == 1 || f.index_bytes == 0)) fit.push_back(&f);
    }
    return fit[c_.below(static_cast<uint32_t>(fit.size()))];
  }

  uint32_t matrix(const PanelFormat *format, uint32_t gates, uint32_t units, uint32_t k, uint32_t count = 1) {
    if (format == nullptr) return matrix(gates, units, k, count);
    PackedMatrix all;
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<float> m(size_t{gates} * units * k);
      for (size_t at = 0; at < m.size(); ++at) m[at] = constant_pool_[at % 61];
      for (size_t at = c_.below(4); format->index_bytes != 0 && at < m.size(); at += c_.range(1, 4)) m[at] = 0;
      m[0] = 1;  // sparse weights have an entry
      rnnp_test::append_matrix(pack_matrix(*format, {m.data(), units, k, 0, gates}), &all);
    }
    const uint32_t made = t_.add_matrix(format->id, gates, units, k, put(all.panels), count);
    BlobMatrix &out = t_.matrices[made];
    if (format->index_bytes != 0) out.entries = all.entries, out.index = put(all.index);
    if (!all.scales.empty()) out.scales = put(all.scales);
    if (!all.unit_sums.empty()) out.unit_sums = put(all.unit_sums);
    out.group_k = all.group_k;
    if (format->factor == DType::kI8) out.lhs_scale = c_.once_in(2) ? 0.0f : 1.0f / 127.0f;
    return made;
  }

  // What is packed lies behind all arrays that lie in one another; until those end, offsets count from there.
  template <class T>
  uint32_t put(const std::vector<T> &v) {
    const size_t at = packed_.size();
    packed_.resize((at + v.size() * sizeof(T) + 63) / 64 * 64);
    if (!v.empty()) std::memcpy(packed_.data() + at, v.data(), v.size() * sizeof(T));
    return static_cast<uint32_t>(at);
  }
  void join_weights() {
    t_.weights.resize((t_.weights.size() + 63) / 64 * 64);
    const uint32_t base = static_cast<uint32_t>(t_.weights.size());
    for (BlobMatrix &m : t_.matrices) {
      const PanelFormat f = find_panel_format(m.format);
      if (f.weight == DType::kF32 && f.index_bytes == 0) continue;
      for (uint32_t *offset : {&m.panels, &m.index, &m.scales, &m.unit_sums})
        if (*offset != kNone) *offset += base;
    }
    t_.weights.insert(t_.weights.end(), packed_.begin(), packed_.end());
  }

  BlobActivation activation(bool any_unary = false) {
    const uint32_t act = smooth_ || c_.once_in(2) ? c_.below(4) : c_.below(uint32_t(any_unary ? kLastAct : kLastKernelAct) + 1);
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

  ByteSource &c_;
  const bool smooth_;
  BlobTables t_;
  uint32_t nr_ = 16, lengths_ = kNone, indices_ = kNone;
  bool causal_ = true, stepwise_ = false, reuse_ = true;
  std::vector<float> constant_pool_;
  std::vector<uint8_t> packed_;
  std::vector<uint32_t> operands_, kept_;  // values that nodes may read; states read by a node
  LoopUnderWay loop_;
};

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_GENERATED_VALUES_H_
