// call.cpp -- Contract: call.h.
// SPDX-License-Identifier: Apache-2.0
#include "call.h"
#include "support/buffers.h"

#include <algorithm>
#include <cstring>

namespace rnnp::onnx_fuzz {
namespace {

constexpr uint32_t kUntouched = 0x7FA5A5A5u;  // a signalling NaN: it spreads where it is read

// Rows of one tensor in memory of its own, apart by strides.
class Spread {
 public:
  Spread(size_t steps, size_t rows, size_t words, bool packed, Random *random) : steps_(steps), rows_(rows), words_(words) {
    const size_t gap = packed ? 0 : random->below(3), wider = packed ? 0 : random->below(3);
    if (packed || random->one_in(2)) {
      row_ = words + gap;
      step_ = row_ * rows + wider;
    } else {
      step_ = words + gap;
      row_ = step_ * steps + wider;
    }
    memory_.assign((steps - 1) * step_ + (rows - 1) * row_ + words, kUntouched);
    buffer_ = {memory_.data(), step_ * 4, row_ * 4};
    if (packed && random->one_in(2)) buffer_.step_stride_bytes = 0;
    if (packed && random->one_in(2)) buffer_.row_stride_bytes = 0;
  }
  uint32_t *at(size_t step, size_t row) { return memory_.data() + step * step_ + row * row_; }
  const rnnp_buffer &buffer() const { return buffer_; }
  bool packed() const { return row_ == words_ && step_ == words_ * rows_; }

  // Words between the rows, as they were.
  void check_gaps(const char *name) {
    for (size_t step = 0; step < steps_; ++step) {
      for (size_t row = 0; row < rows_; ++row) std::fill_n(at(step, row), words_, kUntouched);
    }
    for (uint32_t word : memory_) {
      if (word != kUntouched) throw Wrong(std::string("'") + name + "': bytes between the rows were written");
    }
  }

 private:
  size_t steps_, rows_, words_, row_ = 0, step_ = 0;
  Words memory_;
  rnnp_buffer buffer_{};
};

std::string where(const Call &call, const char *name, size_t stream, size_t step) {
  return std::string("'") + name + "' row " + std::to_string(stream) + " step " + std::to_string(step) + " in a call of " +
         std::to_string(call.steps) + " steps and " + std::to_string(call.who.size()) + " rows";
}

struct Tensors {
  std::vector<Spread> spread;
  std::vector<rnnp_buffer> buffers;
};

Tensors place_inputs(const Call &call, bool packed, std::vector<std::vector<int32_t>> *lengths, Random *random) {
  Tensors out;
  const bool first = call.streams[call.who[0]].done == 0;
  for (size_t i = 0; i < call.network.inputs().size(); ++i) {
    const rnnp_tensor_info &facts = call.network.inputs()[i];
    const bool sequence = call.network.per_step(facts), state = facts.role == RNNP_ROLE_STATE;
    const size_t steps = sequence ? call.steps : 1;
    const Words &rows = call.network.input_rows(i);
    out.spread.emplace_back(steps, call.who.size(), facts.row_elems, packed || facts.role == RNNP_ROLE_LENGTHS, random);
    out.buffers.push_back(out.spread.back().buffer());
    if (!call.network.given(i) || (state && !first)) {
      out.buffers.back() = {nullptr, 0, 0};
      continue;
    }
    if (facts.role == RNNP_ROLE_LENGTHS) {
      lengths->emplace_back();
      for (size_t who : call.who) {
        const int64_t left = static_cast<int32_t>(rows[who]) - static_cast<int64_t>(call.streams[who].done);
        lengths->back().push_back(static_cast<int32_t>(std::clamp<int64_t>(left, 0, static_cast<int64_t>(call.steps))));
      }
      out.buffers.back() = {lengths->back().data(), 0, 0};
      continue;
    }
    for (size_t step = 0; step < steps; ++step) {
      for (size_t k = 0; k < call.who.size(); ++k) {
        const size_t from = sequence ? (call.streams[call.who[k]].done + step) * call.network.batch() + call.who[k] : call.who[k];
        std::memcpy(out.spread.back().at(step, k), &rows[from * facts.row_elems], facts.row_elems * sizeof(uint32_t));
      }
    }
  }
  return out;
}

void check_output(const Call &call, size_t index, bool last_step, Spread *spread) {
  const rnnp_tensor_info &facts = call.network.outputs()[index];
  const bool sequence = call.network.per_step(facts);
  for (size_t k = 0; k < call.who.size(); ++k) {
    const size_t who = call.who[k], done = call.streams[who].done;
    if (!sequence && done + call.steps != call.network.steps()) continue;
    for (size_t step = 0; step < (sequence && !last_step ? call.steps : 1); ++step) {
      const size_t at = !sequence ? 0 : last_step ? done + call.steps - 1 : done + step;
      const uint32_t *want = &call.expected[index][(at * call.network.batch() + who) * facts.row_elems];
      if (!same_bits(spread->at(step, k), want, facts.row_elems))
        throw Wrong(where(call, facts.name, who, at) + ": other bits than the plain run");
    }
  }
  spread->check_gaps(facts.name);
}

bool all_rows_in_order(const Call &call, uint32_t max_batch) {
  if (call.who.size() != max_batch) return false;
  for (size_t k = 0; k < call.who.size(); ++k) {
    if (call.streams[call.who[k]].row != k) return false;
  }
  return true;
}

// rnnp_run and rnnp_step take one sequence input and give one output.
bool fits_run(const Call &call, const std::vector<rnnp_buffer> &in) {
  size_t sequences = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool sequence = call.network.per_step(call.network.inputs()[i]);
    sequences += sequence ? 1 : 0;
    if (!sequence && (in[i].data != nullptr || call.network.inputs()[i].role == RNNP_ROLE_PER_RUN)) return false;
  }
  return sequences == 1 && call.lengths.empty();
}

}  // namespace

void Call::run(rnnp_session *session, uint32_t max_batch, Random *random) const {
  std::vector<std::vector<int32_t>> given_lengths;
  given_lengths.reserve(network.inputs().size());
  const bool in_order = all_rows_in_order(*this, max_batch), simple = in_order && random->one_in(2);
  const bool last_step = !simple && lengths.empty() && !network.ends_rows() && random->one_in(10);
  Tensors in = place_inputs(*this, simple, &given_lengths, random), out;
  for (const rnnp_tensor_info &facts : network.outputs()) {
    out.spread.emplace_back(network.per_step(facts) && !last_step ? steps : 1, who.size(), facts.row_elems, simple, random);
    out.buffers.push_back(out.spread.back().buffer());
  }
  if (simple && fits_run(*this, in.buffers)) {
    size_t x = 0;
    while (!network.per_step(network.inputs()[x])) ++x;
    const rnnp_status status = steps == 1 && network.causal() && random->one_in(2)
                                   ? rnnp_step(session, in.buffers[x].data, out.buffers[0].data)
                                   : rnnp_run(session, steps, in.buffers[x].data, out.buffers[0].data);
    expect_ok(status, "rnnp_run");
    return check_output(*this, 0, false, &out.spread[0]);
  }
  for (rnnp_buffer &buffer : out.buffers) {
    if (random->one_in(8)) buffer.data = nullptr;
  }
  std::vector<uint32_t> rows;
  std::vector<int32_t> ends;
  for (size_t i : who) {
    rows.push_back(static_cast<uint32_t>(streams[i].row));
    if (lengths.empty()) continue;
    const int64_t left = lengths[i] - static_cast<int64_t>(streams[i].done);
    ends.push_back(static_cast<int32_t>(std::clamp<int64_t>(left, 0, static_cast<int64_t>(steps))));
  }
  bool leading = true;
  for (size_t k = 0; k < rows.size(); ++k) leading = leading && rows[k] == k;
  rnnp_io io = RNNP_IO_INIT;
  io.flags = last_step ? RNNP_RUN_LAST_STEP : 0u;
  io.steps = steps;
  io.batch = static_cast<uint32_t>(who.size());
  io.input_count = static_cast<uint32_t>(in.buffers.size());
  io.output_count = static_cast<uint32_t>(out.buffers.size());
  io.lengths = ends.empty() ? nullptr : ends.data();
  io.inputs = rnnp_test::as_inputs(in.buffers.data());
  io.outputs = out.buffers.data();
  io.rows = network.fixed_batch() || (leading && random->one_in(2)) ? nullptr : rows.data();
  expect_ok(rnnp_run_io(session, &io), "rnnp_run_io");
  for (size_t i = 0; i < out.buffers.size(); ++i) {
    if (out.buffers[i].data != nullptr) check_output(*this, i, last_step, &out.spread[i]);
  }
}

}  // namespace rnnp::onnx_fuzz
