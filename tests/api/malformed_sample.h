// malformed_sample.h -- a small model's tables, to be malformed one rule at a time, and whether a session of them is made.
// Room: tests/api.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_API_MALFORMED_SAMPLE_H_
#define RNNPACK_TESTS_API_MALFORMED_SAMPLE_H_

#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace rnnp_test {

using rnnp::kNone;
using rnnp::OpKind;
using rnnp::ValueKind;

// Open and make a session; RNNP_OK from a session that also runs, with everything optional left out.
inline rnnp_status make(const BlobTables &t, uint32_t batch = 2) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  if (status != RNNP_OK) return status;
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  o.max_batch = batch;
  o.max_steps = 3;
  rnnp_memory need = RNNP_MEMORY_INIT;
  status = rnnp_session_memory(&model, &o, &need);
  if (status != RNNP_OK) return status;
  AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  status = rnnp_session_init(&session, &model, &o, memory.data(), memory.size());
  if (status != RNNP_OK) return status;
  const std::vector<float> x(size_t{3} * batch * 64, 0.25f);
  std::vector<rnnp_const_buffer> inputs(t.inputs.size());
  std::vector<rnnp_buffer> outputs(t.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool required = t.inputs[i].role <= RNNP_ROLE_PER_RUN;
    if (required) inputs[i].data = const_cast<float *>(x.data());
  }
  rnnp_io io = RNNP_IO_INIT;
  io.steps = 3;
  io.batch = batch;
  io.input_count = static_cast<uint32_t>(inputs.size());
  io.output_count = static_cast<uint32_t>(outputs.size());
  io.inputs = inputs.data();
  io.outputs = outputs.data();
  return rnnp_run_io(session, &io);
}

// x -> LSTM with every optional operand -> y, y_h; a row that is a copy of y_h's first step.
struct Sample {
  uint32_t x, h0, c0, lengths, y, y_h;
  BlobTables t;
  Sample() {
    BlobBuilder b(11);
    x = b.add_input(6);
    h0 = b.add_state_input(6, "h0");
    c0 = b.add_state_input(6, "c0");
    lengths = b.add_lengths_input();
    RecurrentOptions lstm;
    lstm.hidden = 6;
    y = b.add_recurrent(x, 6, lstm, &y_h, nullptr, {h0, c0, lengths});
    b.add_output(y);
    t = BlobTables(b.build());
  }
  uint32_t sequence(uint32_t elems = 6) {
    const uint32_t at = t.header.sequence_pool_elems;
    t.header.sequence_pool_elems += (elems + 15) / 16 * 16;
    return t.add_value({uint32_t(ValueKind::kSequence), 0, elems, at, 1, 0});
  }
  uint32_t row(uint32_t elems = 6, bool early = false) {
    const uint32_t at = t.header.row_pool_elems;
    t.header.row_pool_elems += (elems + 15) / 16 * 16;
    return t.add_value({uint32_t(ValueKind::kRow), 0, elems, at, 0, early ? 1u : 0u});
  }
  uint32_t constant(uint32_t elems = 6) {
    const uint32_t at = static_cast<uint32_t>(t.weights.size());
    t.weights.resize(at + (elems * 4 + 63) / 64 * 64);
    return t.add_value({uint32_t(ValueKind::kConst), 0, elems, at, 0, 0});
  }
  void unary(uint32_t in, uint32_t out) {
    t.add_node(OpKind::kUnary, rnnp::AttrUnary{{uint32_t(rnnp::Act::kTanh), 0, 0}}, {in}, {out});
  }
  // out = a + b; b_stride 0: its first element for all.
  void add(uint32_t a, uint32_t b, uint32_t out, uint32_t b_stride = 1) {
    t.add_node(OpKind::kBinary, rnnp::AttrBinary{uint32_t(rnnp::Binary::kAdd), 1, {6}, {1}, {b_stride}}, {a, b}, {out});
  }
  rnnp::BlobValue &value(uint32_t v) { return t.values[v]; }
  uint32_t &arg(size_t node, uint32_t i) { return t.args[t.nodes[node].input_first + i]; }
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_API_MALFORMED_SAMPLE_H_
