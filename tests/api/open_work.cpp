// open_work.cpp -- opens a blob with one large table and makes a session of it where it can, for check_open_budget.py to count:
// open_work SHAPE N; prints the bytes of the tables. SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rnnpack/rnnpack.h"
#include "support/blob_builder.h"
#include "support/blob_tables.h"

namespace {

using namespace rnnp_test;
using rnnp::kNone;
using rnnp::OpKind;
using rnnp::ValueKind;

const rnnp::AttrUnary kTanh = {{uint32_t(rnnp::Act::kTanh), 0, 0}};

uint32_t add_sequence(BlobTables *t) {
  t->header.sequence_pool_elems += 16;
  return t->add_value({uint32_t(ValueKind::kSequence), 0, 1, t->header.sequence_pool_elems - 16, 1, 0});
}

// x -> tanh -> y, and n of something.
BlobTables shaped(const char *shape, uint32_t n) {
  BlobBuilder b(1);
  const uint32_t x = b.add_input(1);
  b.add_output(b.add_node(OpKind::kUnary, &kTanh, sizeof kTanh, {x}, 1, true));
  BlobTables t(b.build());
  const auto is = [&](const char *name) { return std::strcmp(shape, name) == 0; };
  if (is("values")) {
    for (uint32_t i = 0; i < 4 * n; ++i) add_sequence(&t);
  } else if (is("reversed")) {  // places in descending order
    for (uint32_t i = 0; i < 4 * n; ++i) add_sequence(&t);
    for (uint32_t i = 0; i < 4 * n; ++i) t.values[2 + i].location = 16 * (4 * n - i);
  } else if (is("nodes")) {
    for (uint32_t i = 0; i < n; ++i) t.add_node(OpKind::kUnary, kTanh, {x}, {add_sequence(&t)});
  } else if (is("args")) {  // every node names the same long list
    std::vector<uint32_t> in(rnnp::kBlobMaxNodeInputs, kNone);
    in[0] = x;
    t.add_node(OpKind::kUnary, kTanh, in, {add_sequence(&t)});
    for (uint32_t i = 0; i < n; ++i) {
      rnnp::BlobNode node = t.nodes.back();
      t.nodes.push_back(node);
    }
  } else if (is("inputs")) {
    for (uint32_t i = 0; i < n; ++i) {
      rnnp::BlobIo io = t.inputs[0];
      io.value = t.add_value({uint32_t(ValueKind::kInput), 0, 1, static_cast<uint32_t>(t.inputs.size()), 1, 0});
      t.inputs.push_back(io);
    }
  } else if (is("outputs")) {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t y = add_sequence(&t);
      t.add_node(OpKind::kUnary, kTanh, {x}, {y});
      t.add_output(y);
    }
  } else if (is("states")) {
    for (uint32_t i = 0; i < 4 * n; ++i) t.states.push_back({1, kNone, 0, 0, 1, 0});
  } else if (is("strings")) {
    for (uint32_t i = 0; i < n; ++i) t.add_string("a name that nothing has");
  } else {  // all values live at once, begun from the last place to the first
    std::vector<uint32_t> made;
    for (uint32_t i = 0; i < n; ++i) made.push_back(add_sequence(&t));
    for (uint32_t i = n; i-- > 0;) t.add_node(OpKind::kUnary, kTanh, {x}, {made[i]});
    for (uint32_t i = 0; i < n; ++i) t.add_output(made[i]);
  }
  return t;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const AlignedBytes blob(shaped(argv[1], static_cast<uint32_t>(std::atoi(argv[2]))).bytes());
  rnnp_model model;
  rnnp_memory need = RNNP_MEMORY_INIT;
  if (rnnp_model_open(&model, blob.data(), blob.size(), 0) != RNNP_OK) return 1;
  if (rnnp_session_memory(&model, nullptr, &need) != RNNP_OK) return 1;
  AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  if (rnnp_session_init(&session, &model, nullptr, memory.data(), memory.size()) != RNNP_OK) return 1;
  rnnp::BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  std::printf("%u\n", h.weights.offset);
  return 0;
}
