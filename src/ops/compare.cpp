// compare.cpp -- the binary operators without a kernel: comparisons, which give 0 or 1, and PRelu; threads own rows.
// Touches its output only; the output may share memory with an operand of the same shape. A second Op beside pointwise.cpp's, so
// that firmware without comparisons links none of it.
// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"
#include "ops/strides.h"

namespace rnnp {
namespace {

// Strides of a blob are unsigned; one past 2^31 reads as negative here and then leaves the row.
const int32_t *signed_strides(const uint32_t *stride) {
  return reinterpret_cast<const int32_t *>(stride);
}

bool compared_fits(const Model &m, uint32_t operand, uint32_t y, const AttrBinary &a, const uint32_t *stride) {
  if (!is_f32_operand(m, operand, y)) return false;
  return strides_fit(a.rank, a.dims, signed_strides(stride), 0, m.values[operand].row_elems);
}

bool accepts_compare(const OpChoice &choice, const BlobNode &node) {
  const AttrBinary *a = choice.model->attr<AttrBinary>(node);
  return a != nullptr && a->op > uint32_t(kLastKernelBinary);
}

rnnp_status check_compare(const Model &m, const BlobNode &node) {
  const AttrBinary *a = m.attr<AttrBinary>(node);
  const uint32_t y = m.node_output(node, 0);
  uint64_t elems;
  if (a == nullptr || a->op > uint32_t(Binary::kPRelu) || a->rank == 0 || !dims_fit(a->rank, a->dims, &elems) ||
      !is_f32_value(m, y, uint32_t(elems)))
    return RNNP_E_BLOB_CORRUPT;
  if (!compared_fits(m, m.node_input(node, 0), y, *a, a->a_stride) || !compared_fits(m, m.node_input(node, 1), y, *a, a->b_stride))
    return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

float one_if(bool v) {
  return v ? 1.0f : 0.0f;
}
float equal(float a, float b) {
  return one_if(a == b);
}
float less(float a, float b) {
  return one_if(a < b);
}
float less_or_equal(float a, float b) {
  return one_if(a <= b);
}
float greater(float a, float b) {
  return one_if(a > b);
}
float greater_or_equal(float a, float b) {
  return one_if(a >= b);
}
float not_equal(float a, float b) {
  return one_if(a != b);
}
float prelu(float x, float slope) {
  return x < 0.0f ? x * slope : x;
}

template <float (*kOp)(float, float)>
void loop(const float *a, ptrdiff_t a_step, const float *b, ptrdiff_t b_step, float *y, uint32_t n) {
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(n); ++i) y[i] = kOp(a[i * a_step], b[i * b_step]);
}

template <float (*kOp)(float, float)>
void compare_row(const AttrBinary &t, const float *a, const float *b, float *y) {
  const uint32_t last = t.rank - 1;
  const ptrdiff_t a_step = signed_strides(t.a_stride)[last], b_step = signed_strides(t.b_stride)[last];
  Walk at_a(last, t.dims, signed_strides(t.a_stride), 0), at_b(last, t.dims, signed_strides(t.b_stride), 0);
  do {
    loop<kOp>(a + at_a.at, a_step, b + at_b.at, b_step, y, t.dims[last]);
    y += t.dims[last];
    at_b.next();
  } while (at_a.next());
}

void any_row(const AttrBinary &t, const float *a, const float *b, float *y) {
  switch (Binary(t.op)) {
    case Binary::kEqual:
      return compare_row<equal>(t, a, b, y);
    case Binary::kLess:
      return compare_row<less>(t, a, b, y);
    case Binary::kLessOrEqual:
      return compare_row<less_or_equal>(t, a, b, y);
    case Binary::kGreater:
      return compare_row<greater>(t, a, b, y);
    case Binary::kGreaterOrEqual:
      return compare_row<greater_or_equal>(t, a, b, y);
    case Binary::kNotEqual:
      return compare_row<not_equal>(t, a, b, y);
    default:
      return compare_row<prelu>(t, a, b, y);
  }
}

void run_compare(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrBinary &t = **static_cast<const AttrBinary *const *>(object);
  const uint32_t a = env.model->node_input(node, 0), b = env.model->node_input(node, 1), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row)
    any_row(t, operand_row(env, a, y, row), operand_row(env, b, y, row), row_of(env.values[y], row));
}

}  // namespace

RNNPACK_OP(compare, {OpKind::kBinary, accepts_compare, check_compare, nullptr, keep_attr<AttrBinary>, nullptr, run_compare});

}  // namespace rnnp
