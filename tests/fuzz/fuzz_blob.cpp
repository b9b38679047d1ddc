// fuzz_blob.cpp -- libFuzzer target of the blob reader: open, ask, init, run two steps; whatever the bytes say, only statuses come
// back. Checksums are mended first, or the fuzzer would never get past them. The sessions it runs are bounded in memory and work.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "rnnpack/rnnpack.h"
#include "support/blob_builder.h"

namespace {

constexpr size_t kMostMemory = 1 << 20;

bool small(const rnnp_tensor_facts &t) {
  return t.row_elems <= 4096;
}

void run(const rnnp_model &model, rnnp_session *session) {
  rnnp_tensor_facts in = {}, out = {};
  in.struct_bytes = out.struct_bytes = sizeof in;
  if (rnnp_model_input(&model, 0, &in) != RNNP_OK || rnnp_model_output(&model, 0, &out) != RNNP_OK || !small(in) || !small(out))
    return;
  const std::vector<float> x(2 * in.row_elems, 0.25f);
  std::vector<float> y(2 * out.row_elems);
  if (rnnp_run(session, 2, x.data(), y.data()) != RNNP_OK) return;
  std::vector<uint8_t> state(kMostMemory);
  if (rnnp_state_save(session, 0, state.data(), state.size()) == RNNP_OK) rnnp_state_load(session, 0, state.data(), state.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (bytes.size() >= sizeof(rnnp::BlobHeader)) rnnp_test::reseal(&bytes);
  const rnnp_test::AlignedBytes blob(bytes);
  rnnp_model model;
  if (rnnp_model_open(&model, blob.data(), blob.size(), 0) != RNNP_OK) return 0;
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  options.max_steps = 2;
  options.chunk_steps = 2;
  rnnp_memory need;
  if (rnnp_session_memory(&model, &options, &need) != RNNP_OK || need.session_bytes > kMostMemory) return 0;
  rnnp_test::AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  if (rnnp_session_init(&session, &model, &options, memory.data(), memory.size()) == RNNP_OK) run(model, session);
  return 0;
}
