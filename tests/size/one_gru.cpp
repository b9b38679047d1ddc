// one_gru.cpp -- a program with one GRU and a registry of what it needs: what the linker keeps of the library is held to a budget.
// Room: tests/size; it runs, so that the registry cannot be too small.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "rnnpack/registry.h"
#include "rnnpack/rnnpack.h"
#include "support/blob_builder.h"

namespace {

const rnnp_op *const kOps[] = {&rnnp_op_recurrent};
const rnnp_kernel_group *const kKernels[] = {&rnnp_kernels_gemm3_f32_nr16, &rnnp_kernels_gru_linear_f32_nr16};
const rnnp_registry kRegistry = {sizeof(rnnp_registry), 1, 2, kOps, kKernels, &rnnp_check_dataflow, nullptr};
constexpr uint32_t kHidden = 64, kSteps = 20;

std::vector<uint8_t> gru() {
  rnnp_test::BlobBuilder b(1);
  rnnp_test::RecurrentOptions options;
  options.cell = rnnp::Cell::kGruLinear;
  options.hidden = kHidden;
  b.add_output(b.add_recurrent(b.add_input(kHidden), kHidden, options));
  return b.build();
}

}  // namespace

int main() {
  rnnp_test::AlignedBytes blob(gru());
  rnnp_model model;
  rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  rnnp_session_options options;
  rnnp_session_options_init(&options, sizeof options);
  rnnp_memory memory = RNNP_MEMORY_INIT;
  if (status == RNNP_OK) status = rnnp_session_memory_with(&kRegistry, &model, &options, &memory);
  rnnp_test::AlignedBytes storage(status == RNNP_OK ? memory.session_bytes : 0);
  rnnp_session *session = nullptr;
  if (status == RNNP_OK) status = rnnp_session_init_with(&kRegistry, &session, &model, &options, storage.data(), storage.size());
  const std::vector<float> x(kSteps * kHidden, 0.5f);
  std::vector<float> y(kSteps * kHidden, -77.0f);
  if (status == RNNP_OK) status = rnnp_run(session, kSteps, x.data(), y.data());
  if (status == RNNP_OK && y.back() >= -1.0f && y.back() <= 1.0f) return 0;
  std::printf("%s, last output %g\n", rnnp_status_string(status), static_cast<double>(y.back()));
  return 1;
}
