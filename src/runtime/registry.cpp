// registry.cpp -- the registry of everything in this build. Only default_sessions.cpp refers to it, so a program that brings its
// own registry links none of it. SPDX-License-Identifier: Apache-2.0
#include "runtime/registry_view.h"

namespace {

// The first of a kind that takes the node runs it.
const rnnp::Op *const kOps[] = {
#ifdef RNNPACK_HAS_XNNPACK
    &rnnp::rnnp_op_xnn_dense, &rnnp::rnnp_op_xnn_softmax, &rnnp::rnnp_op_xnn_unary,
#endif
#define RNNPACK_OP_OBJECT(name) &rnnp::rnnp_op_##name,
    RNNP_FOR_EACH_OP(RNNPACK_OP_OBJECT)
#undef RNNPACK_OP_OBJECT
};
const rnnp::KernelList *const kKernels[] = {&rnnp::kAllKernels};

}  // namespace

// Weak, so that a program's own takes its place even where all of the archive is linked (--whole-archive).
#ifdef _WIN32
#define RNNPACK_WEAK
#else
#define RNNPACK_WEAK __attribute__((weak))
#endif

extern "C" {
extern RNNPACK_WEAK const rnnp_registry rnnp_default_registry;
const rnnp_registry rnnp_default_registry = {sizeof(rnnp_registry),
                                             sizeof kOps / sizeof kOps[0],
                                             sizeof kKernels / sizeof kKernels[0],
                                             reinterpret_cast<const rnnp_op *const *>(kOps),
                                             reinterpret_cast<const rnnp_kernel_group *const *>(kKernels),
                                             reinterpret_cast<const rnnp_check *>(&rnnp::rnnp_check_dataflow),
                                             nullptr};
}
