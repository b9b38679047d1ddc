// registry.cpp -- the registry of everything in this build, and the two functions that take no registry. Nothing else refers to
// it, so a program that brings its own registry links none of it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/registry.h"

namespace {

// The first of a kind that takes the node runs it.
const rnnp::Op *const kOps[] = {
#ifdef RNNPACK_HAS_XNNPACK
    &rnnp::rnnp_op_xnn_dense, &rnnp::rnnp_op_xnn_softmax, &rnnp::rnnp_op_xnn_unary,
#endif
    &rnnp::rnnp_op_recurrent, &rnnp::rnnp_op_dense,       &rnnp::rnnp_op_unary,      &rnnp::rnnp_op_binary,
    &rnnp::rnnp_op_softmax,   &rnnp::rnnp_op_copy,        &rnnp::rnnp_op_time_step,  &rnnp::rnnp_op_unary_more,
    &rnnp::rnnp_op_compare,   &rnnp::rnnp_op_reduce,      &rnnp::rnnp_op_norm,       &rnnp::rnnp_op_where,
    &rnnp::rnnp_op_gather,    &rnnp::rnnp_op_matmul,      &rnnp::rnnp_op_state_read, &rnnp::rnnp_op_state_write,
    &rnnp::rnnp_op_conv,      &rnnp::rnnp_op_depthwise,   &rnnp::rnnp_op_pool,       &rnnp::rnnp_op_time_reduce};
const rnnp::KernelList *const kKernels[] = {&rnnp::kAllKernels};

rnnp_registry all() {
  return {sizeof(rnnp_registry), sizeof kOps / sizeof kOps[0], sizeof kKernels / sizeof kKernels[0],
          reinterpret_cast<const rnnp_op *const *>(kOps), reinterpret_cast<const rnnp_kernel_group *const *>(kKernels)};
}

}  // namespace

rnnp_status rnnp_session_memory(const rnnp_model *model, const rnnp_session_options *options, rnnp_memory *memory) {
  const rnnp_registry registry = all();
  return rnnp_session_memory_with(&registry, model, options, memory);
}

rnnp_status rnnp_session_init(rnnp_session **session, const rnnp_model *model, const rnnp_session_options *options, void *mem,
                              size_t bytes) {
  const rnnp_registry registry = all();
  return rnnp_session_init_with(&registry, session, model, options, mem, bytes);
}
