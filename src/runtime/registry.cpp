// registry.cpp -- see registry.h.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/registry.h"

namespace rnnp {

static const Op *const kOps[] = {&kOpRecurrent, &kOpDense, &kOpUnary, &kOpBinary, &kOpSoftmax, &kOpCopy, &kOpTimeStep};

const OpList kDefaultOps = {kOps, sizeof kOps / sizeof kOps[0]};

}  // namespace rnnp
