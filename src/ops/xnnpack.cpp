// xnnpack.cpp -- see xnnpack.h. The API here is that of early 2022 (create, setup, run), as Debian 12 packages it.
// Touches session memory at init, the output in run.
// SPDX-License-Identifier: Apache-2.0
#include <xnnpack.h>

#include "ops/xnnpack.h"
#include "pack/layout.h"
#include "platform/xnnpack/allocator.h"

namespace rnnp {
namespace {

constexpr size_t kOperatorBytes = 4096;  // the operator object and the blocks' heads
constexpr size_t kWidestKernel = 64;     // output channels are packed in blocks of at most this many
constexpr size_t kDeepestKernel = 16;    // and input channels rounded up to at most this

constexpr float kInfinity = __builtin_inff();

// Activations that XNNPACK's dense layer applies itself, as bounds on the output.
bool output_bounds(const BlobActivation &a, float *low, float *high) {
  *low = -kInfinity;
  *high = kInfinity;
  if (Act(a.act) == Act::kRelu) *low = 0;
  return Act(a.act) == Act::kIdentity || Act(a.act) == Act::kRelu;
}

XnnOperator *wrap(xnn_status status, xnn_operator_t op, const XnnMemoryScope &scope, bool *refused) {
  if (status != xnn_status_success) return nullptr;
  if (!scope.was_used()) {
    *refused = true;
    xnn_delete_operator(op);
    return nullptr;
  }
  return reinterpret_cast<XnnOperator *>(op);
}

xnn_operator_t unwrap(XnnOperator *op) {
  return reinterpret_cast<xnn_operator_t>(op);
}

bool run_set_up(xnn_status setup, XnnOperator *op) {
  return setup == xnn_status_success && xnn_run_operator(unwrap(op), nullptr) == xnn_status_success;
}

// The part's rows of M, [O][I] row-major, out of the panels.
void unpack(const Model &m, const DensePart &part, float *rows) {
  const AttrDense &d = *part.dense;
  const float *panels = m.weights(d.w);
  for (uint32_t o = part.begin; o < part.end; ++o) {
    const float *panel = panels + panel_elems(d.input_size, 1, d.nr) * (o / d.nr) + o % d.nr;
    for (uint32_t i = 0; i < d.input_size; ++i) *rows++ = panel[size_t{i} * d.nr];
  }
}

using UnaryCreate = xnn_status (*)(size_t, size_t, size_t, uint32_t, xnn_operator_t *);
using UnarySetup = xnn_status (*)(xnn_operator_t, size_t, const float *, float *, pthreadpool_t);

struct UnaryEntry {
  UnaryCreate create;
  UnarySetup setup;
};

UnaryEntry find_unary(const BlobActivation &a) {
  switch (Act(a.act)) {
    case Act::kSigmoid:
      return {xnn_create_sigmoid_nc_f32, xnn_setup_sigmoid_nc_f32};
    case Act::kHardSwish:
      return {xnn_create_hardswish_nc_f32, xnn_setup_hardswish_nc_f32};
    case Act::kAbs:
      return {xnn_create_abs_nc_f32, xnn_setup_abs_nc_f32};
    case Act::kNeg:
      return {xnn_create_negate_nc_f32, xnn_setup_negate_nc_f32};
    case Act::kSqrt:
      return {xnn_create_square_root_nc_f32, xnn_setup_square_root_nc_f32};
    default:
      return {nullptr, nullptr};
  }
}

}  // namespace

size_t xnn_dense_bytes(const DensePart &part) {
  const AttrDense &d = *part.dense;
  float low, high;
  if (d.groups != 1 || part.begin == part.end || !output_bounds(d.act, &low, &high)) return 0;
  const size_t n = align_up(part.end - part.begin, kWidestKernel), k = add_sat(align_up(d.input_size, kDeepestKernel), 1);
  return add_sat(mul_sat(mul_sat(n, k), sizeof(float)), kOperatorBytes);
}

size_t xnn_dense_scratch_bytes(const DensePart &part) {
  return mul_sat(mul_sat(part.dense->input_size, part.end - part.begin), sizeof(float));
}

XnnOperator *xnn_dense_create(const Model &m, const DensePart &part, void *memory, size_t bytes, void *scratch, bool *refused) {
  const AttrDense &d = *part.dense;
  float low, high;
  if (!xnn_ready() || !output_bounds(d.act, &low, &high)) return nullptr;
  float *rows = static_cast<float *>(scratch);
  unpack(m, part, rows);
  const float *bias = d.bias == kNone ? nullptr : m.weights(d.bias) + part.begin;
  XnnMemoryScope scope(memory, bytes);
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_fully_connected_nc_f32(d.input_size, part.end - part.begin, d.input_size, d.output_size,
                                                              rows, bias, low, high, 0, &op);
  return wrap(status, op, scope, refused);
}

bool xnn_dense_run(XnnOperator *op, const float *x, float *y, size_t rows) {
  return run_set_up(xnn_setup_fully_connected_nc_f32(unwrap(op), rows, x, y, nullptr), op);
}

size_t xnn_softmax_bytes(const AttrSoftmax &s) {
  return s.inner == 1 && !s.log ? kOperatorBytes : 0;
}

XnnOperator *xnn_softmax_create(const AttrSoftmax &s, void *memory, size_t bytes, bool *refused) {
  if (!xnn_ready()) return nullptr;
  XnnMemoryScope scope(memory, bytes);
  xnn_operator_t op = nullptr;
  return wrap(xnn_create_softmax_nc_f32(s.axis, s.axis, s.axis, 0, &op), op, scope, refused);
}

bool xnn_softmax_run(XnnOperator *op, const float *x, float *y, size_t rows) {
  return run_set_up(xnn_setup_softmax_nc_f32(unwrap(op), rows, x, y, nullptr), op);
}

size_t xnn_unary_bytes(const BlobActivation &a) {
  return find_unary(a).create != nullptr ? kOperatorBytes : 0;
}

XnnOperator *xnn_unary_create(const BlobActivation &a, uint32_t elems, void *memory, size_t bytes, bool *refused) {
  const UnaryEntry entry = find_unary(a);
  if (entry.create == nullptr || !xnn_ready()) return nullptr;
  XnnMemoryScope scope(memory, bytes);
  xnn_operator_t op = nullptr;
  return wrap(entry.create(elems, elems, elems, 0, &op), op, scope, refused);
}

bool xnn_unary_run(XnnOperator *op, const BlobActivation &a, const float *x, float *y, size_t rows) {
  return run_set_up(find_unary(a).setup(unwrap(op), rows, x, y, nullptr), op);
}

}  // namespace rnnp
