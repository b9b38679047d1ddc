// xnn_rows.cpp -- Contract: xnn_rows.h. The API here is that of early 2022 (create, setup, run), as Debian 12 packages it.
// SPDX-License-Identifier: Apache-2.0
#include "ops/xnnpack/xnn_rows.h"

namespace rnnp {
namespace {

constexpr size_t kExtraElems = XNN_EXTRA_BYTES / sizeof(float);

// So many last rows that a read behind the row before them stays within them.
size_t staged_rows(size_t x_elems) {
  return (kExtraElems + x_elems - 1) / x_elems;
}

bool run_some(xnn_operator_t op, XnnSetup setup, size_t rows, const float *x, float *y) {
  return setup(op, rows, x, y, nullptr) == xnn_status_success && xnn_run_operator(op, nullptr) == xnn_status_success;
}

void run_portable_step(void *object) {
  const XnnNode &xnn = *static_cast<const XnnNode *>(object);
  xnn.step(xnn.object);
}

}  // namespace

bool xnn_is_asked(const OpChoice &choice, const Kernel *ours) {
  if (ours == nullptr) return false;
  return choice.xnnpack == XnnUse::kAlways || (choice.xnnpack == XnnUse::kWhereFaster && ours->isa == 0);
}

xnn_operator_t xnn_keep(xnn_status status, xnn_operator_t op, const XnnMemoryScope &scope, FinishEnv *env) {
  if (status != xnn_status_success) return nullptr;
  if (scope.was_used()) return op;
  env->xnnpack_refused = true;
  xnn_delete_operator(op);
  return nullptr;
}

size_t xnn_pad_bytes(size_t x_elems) {
  return align_up(mul_sat(add_sat(mul_sat(staged_rows(x_elems), x_elems), kExtraElems), sizeof(float)), kArenaAlign);
}

size_t xnn_run_rows(xnn_operator_t op, XnnSetup setup, const XnnRows &r, float *pad) {
  const size_t most = staged_rows(r.x_elems), staged = r.rows < most ? r.rows : most, body = r.rows - staged;
  if (body != 0 && !run_some(op, setup, body, r.x, r.y)) return 0;
  if (staged == 0) return 0;
  const size_t elems = staged * r.x_elems;
  copy_bytes(pad, r.x + body * r.x_elems, elems * sizeof(float));
  zero_bytes(pad + elems, XNN_EXTRA_BYTES);
  return run_some(op, setup, staged, pad, r.y + body * r.y_stride) ? r.rows : body;
}

bool all_finite(const float *x, size_t elems) {
  bool finite = true;
  for (size_t i = 0; i < elems; ++i) finite &= x[i] - x[i] == 0.0f;
  return finite;
}

size_t finite_rows(const float *x, size_t elems, size_t rows) {
  size_t n = 0;
  while (n < rows && all_finite(x + n * elems, elems)) ++n;
  return n;
}

rnnp_status build_portable(BuildEnv *env, const BlobNode &node, const Op &portable, size_t x_elems, XnnNode *xnn) {
  *xnn = {&portable, nullptr, nullptr, false};
  const rnnp_status status = portable.build(env, node, &xnn->object);
  if (status != RNNP_OK) return status;
  const size_t pads = mul_sat(xnn_pad_bytes(x_elems), env->threads);
  if (pads > env->scratch_bytes) env->scratch_bytes = pads;
  return RNNP_OK;
}

StepFn finish_node(FinishEnv *env, const BlobNode &node, XnnNode *xnn, bool taken) {
  xnn->taken = taken;
  env->xnnpack_count += taken;
  if (xnn->portable->finish != nullptr) xnn->step = xnn->portable->finish(env, node, xnn->object);
  return taken || xnn->step == nullptr ? nullptr : run_portable_step;
}

}  // namespace rnnp
