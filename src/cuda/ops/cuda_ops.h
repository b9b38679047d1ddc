// cuda_ops.h -- the operators of CUDA sessions: the runtime's Op (ops/op.h), whose run enqueues launches. Each checks a node by the
// CPU operator of its kind, so both accept the same blobs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_OPS_CUDA_OPS_H_
#define RNNPACK_CUDA_OPS_CUDA_OPS_H_

#include "cuda/context.h"

namespace rnnp {
namespace cuda {

extern const Op op_recurrent, op_feature_recurrent, op_dense;
extern const Op op_unary, op_binary, op_where, op_copy, op_softmax, op_norm, op_reduce, op_matmul, op_gather;
extern const Op op_time_step, op_time_reduce, op_time_reverse, op_state_read, op_state_write, op_conv, op_pool;

// one_by_one: its directions are to be. False: no kernel reads its weights.
bool plan_recurrent_node(const Context &context, const AttrRecurrent &a, uint32_t max_batch, uint32_t chunk_steps, bool one_by_one,
                         LayerPlan *plan);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_OPS_CUDA_OPS_H_
