// cuda_ops.h -- the operators of CUDA sessions: the runtime's Op (ops/op.h), whose run enqueues launches. Each checks a node by the
// CPU operator of its kind, so both accept the same blobs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_OPS_CUDA_OPS_H_
#define RNNPACK_CUDA_OPS_CUDA_OPS_H_

#include "cuda/context.h"

namespace rnnp {
namespace cuda {

#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) cuda
#define RNNPACK_ON_CUDA(object) extern const Op object;
#define RNNPACK_NOT_ON_CUDA(why)
#include "format/ops.inc"
#undef RNNPACK_KIND
#undef RNNPACK_ON_CUDA
#undef RNNPACK_NOT_ON_CUDA

// Why sessions on a GPU refuse nodes of a kind; nullptr where they run them.
const char *why_not_on_cuda(uint32_t op);

// one_by_one: its directions are to be. False: no kernel reads its weights.
bool plan_recurrent_node(const Context &context, const AttrRecurrent &a, uint32_t max_batch, uint32_t chunk_steps, bool one_by_one,
                         LayerPlan *plan);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_OPS_CUDA_OPS_H_
