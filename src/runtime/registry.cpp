// registry.cpp -- the registry of everything in this build. Only default_sessions.cpp refers to it, so a program that brings its
// own registry links none of it. SPDX-License-Identifier: Apache-2.0
#include "runtime/registry_view.h"

namespace {

// The first of a kind that takes the node runs it.
const rnnp::Op *const kOps[] = {
#ifdef RNNPACK_HAS_XNNPACK
    &rnnp::rnnp_op_xnn_dense,
    &rnnp::rnnp_op_xnn_softmax,
    &rnnp::rnnp_op_xnn_unary,
#endif
    &rnnp::rnnp_op_recurrent,
    &rnnp::rnnp_op_dense,
    &rnnp::rnnp_op_unary,
    &rnnp::rnnp_op_binary,
    &rnnp::rnnp_op_softmax,
    &rnnp::rnnp_op_copy,
    &rnnp::rnnp_op_time_step,
    &rnnp::rnnp_op_unary_without_kernel,
    &rnnp::rnnp_op_compare,
    &rnnp::rnnp_op_reduce,
    &rnnp::rnnp_op_norm,
    &rnnp::rnnp_op_where,
    &rnnp::rnnp_op_gather,
    &rnnp::rnnp_op_matmul,
    &rnnp::rnnp_op_state_read,
    &rnnp::rnnp_op_state_write,
    &rnnp::rnnp_op_conv,
    &rnnp::rnnp_op_conv_nchw,
    &rnnp::rnnp_op_conv_winograd,
    &rnnp::rnnp_op_depthwise,
    &rnnp::rnnp_op_pool,
    &rnnp::rnnp_op_time_reduce,
    &rnnp::rnnp_op_feature_recurrent,
    &rnnp::rnnp_op_recurrent_unfused,
    &rnnp::rnnp_op_time_reverse};
const rnnp::KernelList *const kKernels[] = {&rnnp::kAllKernels};

}  // namespace

extern "C" {
const rnnp_registry rnnp_default_registry = {sizeof(rnnp_registry),
                                             sizeof kOps / sizeof kOps[0],
                                             sizeof kKernels / sizeof kKernels[0],
                                             reinterpret_cast<const rnnp_op *const *>(kOps),
                                             reinterpret_cast<const rnnp_kernel_group *const *>(kKernels),
                                             reinterpret_cast<const rnnp_check *>(&rnnp::rnnp_check_dataflow),
                                             nullptr};
}
