// xnnpack_absent.cpp -- no XNNPACK in this build: every operator is portable.
// SPDX-License-Identifier: Apache-2.0
#include "ops/xnnpack.h"

namespace rnnp {

size_t xnn_dense_bytes(const DensePart &) {
  return 0;
}
size_t xnn_dense_scratch_bytes(const DensePart &) {
  return 0;
}
XnnOperator *xnn_dense_create(const Model &, const DensePart &, void *, size_t, void *, bool *) {
  return nullptr;
}
bool xnn_dense_run(XnnOperator *, const float *, float *, size_t) {
  return false;
}
size_t xnn_softmax_bytes(const AttrSoftmax &) {
  return 0;
}
XnnOperator *xnn_softmax_create(const AttrSoftmax &, void *, size_t, bool *) {
  return nullptr;
}
bool xnn_softmax_run(XnnOperator *, const float *, float *, size_t) {
  return false;
}
size_t xnn_unary_bytes(const BlobActivation &) {
  return 0;
}
XnnOperator *xnn_unary_create(const BlobActivation &, uint32_t, void *, size_t, bool *) {
  return nullptr;
}
bool xnn_unary_run(XnnOperator *, const BlobActivation &, const float *, float *, size_t) {
  return false;
}

}  // namespace rnnp
