// random_model.cpp -- see random_model.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/random_model.h"

#include "fuzz/generated_blob.h"
#include "support/session_fixture.h"

namespace rnnp_test {
namespace {

// A sequence goes in, something comes out, a session can be made for one row and rows are of the size that tests hold.
bool can_walk(const std::vector<uint8_t> &bytes) {
  constexpr uint32_t kMostElems = 256;
  const AlignedBytes blob(bytes);
  rnnp_model model;
  rnnp_model_info info = RNNP_MODEL_INFO_INIT;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  options.max_steps = 1;
  if (rnnp_model_open(&model, blob.data(), blob.size(), 0) != RNNP_OK || rnnp_model_get_info(&model, &info) != RNNP_OK)
    return false;
  if (info.output_count == 0 || info.stream_steps > 4 || info.fixed_batch != 0 ||
      rnnp_session_memory(&model, &options, &need) != RNNP_OK)
    return false;
  bool sequence = false;
  for (uint32_t i = 0; i < info.input_count + info.output_count; ++i) {
    rnnp_tensor_info tensor = RNNP_TENSOR_INFO_INIT;
    const rnnp_status status = i < info.input_count ? rnnp_model_get_input(&model, i, &tensor)
                                                    : rnnp_model_get_output(&model, i - info.input_count, &tensor);
    if (status != RNNP_OK || tensor.row_elems > kMostElems) return false;
    sequence = sequence || (i < info.input_count && tensor.role == RNNP_ROLE_SEQUENCE);
  }
  AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  return sequence && rnnp_session_init(&session, &model, &options, memory.data(), memory.size()) == RNNP_OK;
}

}  // namespace

std::vector<uint8_t> random_model(uint32_t seed, bool smooth) {
  for (uint64_t attempt = 0;; ++attempt) {
    rnnp_fuzz::ByteSource choices(seed + (attempt << 32));
    std::vector<uint8_t> bytes =
        rnnp_fuzz::generated_blob(&choices, smooth ? rnnp_fuzz::Outputs::kSmooth : rnnp_fuzz::Outputs::kDefined).bytes();
    if (can_walk(bytes)) return bytes;
  }
}

}  // namespace rnnp_test
