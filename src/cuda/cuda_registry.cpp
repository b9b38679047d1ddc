// cuda_registry.cpp -- the operators that a GPU has kernels for. A node of another kind is refused when a session is made.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_session.h"
#include "cuda/ops/cuda_ops.h"

namespace rnnp {
namespace cuda {
namespace {

const Op *const kOps[] = {&op_recurrent, &op_feature_recurrent, &op_dense,        &op_unary,      &op_binary,      &op_where,
                          &op_copy,      &op_softmax,           &op_norm,         &op_reduce,     &op_matmul,      &op_gather,
                          &op_time_step, &op_time_reduce,       &op_time_reverse, &op_state_read, &op_state_write, &op_conv,
                          &op_pool};
const KernelList *const kNoKernels[] = {nullptr};

}  // namespace

const rnnp_registry kCudaRegistry = {sizeof(rnnp_registry),
                                     sizeof kOps / sizeof kOps[0],
                                     0,
                                     reinterpret_cast<const rnnp_op *const *>(kOps),
                                     reinterpret_cast<const rnnp_kernel_group *const *>(kNoKernels),
                                     reinterpret_cast<const rnnp_check *>(&rnnp_check_dataflow),
                                     nullptr};

}  // namespace cuda
}  // namespace rnnp
