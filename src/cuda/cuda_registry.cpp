// cuda_registry.cpp -- the operators that a GPU has kernels for. A node of another kind is refused when a session is made.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_session.h"
#include "cuda/ops/cuda_ops.h"

namespace rnnp {
namespace cuda {
namespace {

const Op *const kOps[] = {
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) cuda
#define RNNPACK_ON_CUDA(object) &object,
#define RNNPACK_NOT_ON_CUDA(why)
#include "format/ops.inc"
#undef RNNPACK_KIND
#undef RNNPACK_ON_CUDA
};
const KernelList *const kNoKernels[] = {nullptr};

}  // namespace

const rnnp_registry kCudaRegistry = {sizeof(rnnp_registry),
                                     sizeof kOps / sizeof kOps[0],
                                     0,
                                     reinterpret_cast<const rnnp_op *const *>(kOps),
                                     reinterpret_cast<const rnnp_kernel_group *const *>(kNoKernels),
                                     reinterpret_cast<const rnnp_check *>(&rnnp_check_dataflow),
                                     nullptr};

const char *why_not_on_cuda(uint32_t op) {
  switch (OpKind(op)) {
#define RNNPACK_KIND(kind, id, attributes, word, name, cuda) \
  case OpKind::kind:                                         \
    return cuda;
#define RNNPACK_ON_CUDA(object) nullptr
#undef RNNPACK_NOT_ON_CUDA
#define RNNPACK_NOT_ON_CUDA(why) why
#include "format/ops.inc"
#undef RNNPACK_KIND
#undef RNNPACK_ON_CUDA
#undef RNNPACK_NOT_ON_CUDA
  }
  return nullptr;
}

}  // namespace cuda
}  // namespace rnnp
