// registry_view.h -- what lies behind a public rnnp_registry: the operators and kernels that a session may use.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_REGISTRY_VIEW_H_
#define RNNPACK_RUNTIME_REGISTRY_VIEW_H_

#include "format/dataflow.h"
#include "ops/op.h"

namespace rnnp {

inline bool is_registry(const rnnp_registry *r) {
  return r != nullptr && r->struct_bytes >= sizeof(rnnp_registry) && r->ops != nullptr && r->kernels != nullptr &&
         (r->check != nullptr || r->blob != nullptr);
}

inline OpList ops_of(const rnnp_registry &r) {
  return {reinterpret_cast<const Op *const *>(r.ops), r.op_count};
}
inline const BlobCheck *check_of(const rnnp_registry &r) {
  return static_cast<const BlobCheck *>(static_cast<const void *>(r.check));
}
inline KernelGroups kernels_of(const rnnp_registry &r) {
  return {reinterpret_cast<const KernelList *const *>(r.kernels), r.kernel_count};
}

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_REGISTRY_VIEW_H_
