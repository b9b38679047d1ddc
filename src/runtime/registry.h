// registry.h -- which operators this build has, in order of preference.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_REGISTRY_H_
#define RNNPACK_RUNTIME_REGISTRY_H_

#include "ops/op.h"

namespace rnnp {

extern const OpList kDefaultOps;

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_REGISTRY_H_
