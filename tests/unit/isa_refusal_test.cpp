// isa_refusal_test.cpp -- a registry whose kernels all take an instruction set: without it a session is refused for that, and not
// for the layout. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/kernels.h"
#include "rnnpack/registry.h"
#include "support/blob_builder.h"

namespace rnnp_test {
namespace {

using rnnp::Kernel;

std::vector<const Kernel *> kernels_that(bool take_an_isa) {
  std::vector<const Kernel *> rows;
  for (uint32_t i = 0; i < rnnp::kAllKernels.count; ++i) {
    const Kernel *row = rnnp::kAllKernels.rows[i];
    if ((row->isa != 0) == take_an_isa) rows.push_back(row);
  }
  return rows;
}

rnnp_refusal ask(const std::vector<const Kernel *> &rows, uint32_t isa_allowed) {
  BlobBuilder b(1);
  b.add_output(b.add_dense(b.add_input(8), 8, 8));
  const AlignedBytes blob(b.build());
  rnnp_model model;
  EXPECT_EQ(RNNP_OK, rnnp_model_open(&model, blob.data(), blob.size(), 0));
  const rnnp::KernelList list = {rows.data(), static_cast<uint32_t>(rows.size())};
  const rnnp_kernel_group *const groups[] = {reinterpret_cast<const rnnp_kernel_group *>(&list)};
  rnnp_registry r = rnnp_default_registry;
  r.kernel_count = 1;
  r.kernels = groups;
  rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
  options.isa_allowed = isa_allowed;
  options.flags = RNNP_SESSION_PORTABLE_OPS;
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;
  rnnp_memory need = RNNP_MEMORY_INIT;
  const rnnp_status status = rnnp_session_explain_with(&r, &model, &options, nullptr, 0, &refusal);
  EXPECT_EQ(status, rnnp_session_memory_with(&r, &model, &options, &need));
  return refusal;
}

TEST(IsaRefusal, KernelsThatMayNotRunAreNotAMissingLayout) {
  const std::vector<const Kernel *> vectors = kernels_that(true);
  if (vectors.empty()) GTEST_SKIP() << "this build has the reference alone";
  const rnnp_refusal forbidden = ask(vectors, RNNP_ISA_REFERENCE_ONLY);
  EXPECT_EQ(RNNP_E_ISA, forbidden.status);
  EXPECT_EQ(0u, forbidden.node);
  EXPECT_STREQ("Dense", forbidden.op);
  EXPECT_EQ(RNNP_OK, ask(kernels_that(false), RNNP_ISA_REFERENCE_ONLY).status);
  EXPECT_EQ(RNNP_E_LAYOUT, ask({}, 0).status);
}

}  // namespace
}  // namespace rnnp_test
