// opened_blob.cpp -- Contract: opened_blob.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/run/opened_blob.h"

#include <cstring>
#include <vector>

#include "compiler/emit/refusal_text.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {

std::unique_ptr<OpenedBlob> open_blob(const std::string &path) {
  const std::vector<uint8_t> bytes = read_file(path);
  auto blob = std::make_unique<OpenedBlob>(OpenedBlob{AlignedBytes(bytes.size(), 64), {}});
  if (!bytes.empty()) std::memcpy(blob->bytes.data(), bytes.data(), bytes.size());
  const rnnp_status status = rnnp_model_open(&blob->model, blob->bytes.data(), bytes.size(), 0);
  if (status != RNNP_OK) throw IoError(quote(path) + ": " + rnnp_status_string(status));
  return blob;
}

void fit_call(const rnnp_model &model, size_t *steps, uint32_t *batch) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  check(rnnp_model_get_info(&model, &facts), "rnnp_model_get_info");
  constexpr size_t kUsualSteps = 100;
  if (*steps == 0) *steps = facts.stream_steps != 0 ? facts.stream_steps : kUsualSteps;
  if (facts.fixed_batch != 0) *batch = facts.fixed_batch;
}

}  // namespace rnnp::compiler
