// unary_without_kernel.cpp -- the element-wise operators without a kernel: Sign, Round, Erf, Gelu, Sin and Cos; threads own rows.
// Touches its output only; in place allowed. A second Op beside pointwise.cpp's, so that firmware without them links none of it.
// SPDX-License-Identifier: Apache-2.0
#include "base/sine.h"
#include "kernels/inlining.h"
#include "kernels/scalar_math.h"
#include "ops/op.h"

namespace rnnp {
namespace {

template <uint32_t kCount>
float polynomial(const float (&c)[kCount], float z) {
  float p = c[kCount - 1];
  for (uint32_t i = kCount - 1; i > 0; --i) p = p * z + c[i - 1];
  return p;
}

// x P(x^2) below 1, 1 - exp(-Q(x - 1)) up to 4, 1 beyond; fitted at Chebyshev points, within 4 ulp of f32.
float erf_of(float x) {
  static constexpr float kSmall[] = {1.1283791f,    -0.37612626f,    0.11283597f,   -0.026854329f,
                                     0.0051893122f, -0.00080188555f, 7.8824974e-05f};
  static constexpr float kLarge[] = {1.8496056f,    2.6389675f,      0.84310639f,    0.041571494f,   -0.010072461f,
                                     0.0020506207f, -0.00031882891f, 3.2678130e-05f, -1.6140616e-06f};
  const float size = scalar_abs(x);
  if (!(size >= 1.0f)) return x * polynomial(kSmall, x * x);
  const float y = size < 4.0f ? 1.0f - scalar_exp(-polynomial(kLarge, size - 1.0f)) : 1.0f;
  return x < 0.0f ? -y : y;
}

// By the bits: a comparison takes a denormal for zero where denormals are flushed.
float sign_of(float x) {
  const uint32_t bits = float_bits(x), size = bits & 0x7fffffffu;
  return size == 0 || size > 0x7f800000u ? x : bits_float((bits & 0x80000000u) | 0x3f800000u);
}

// To the nearest, halves to the even one; floats from 2^23 on are whole.
float round_of(float x) {
  if (!(scalar_abs(x) < 8388608.0f)) return x;
  const float down = scalar_floor(x), rest = x - down;
  const bool odd = (static_cast<int32_t>(down) & 1) != 0;
  const float y = rest > 0.5f || (rest == 0.5f && odd) ? down + 1.0f : down;
  return y == 0.0f ? bits_float(float_bits(x) & 0x80000000u) : y;
}

float gelu_of(float x) {
  return 0.5f * x * (1.0f + erf_of(x * 0.70710678f));
}

float gelu_tanh_of(float x) {
  return 0.5f * x * (1.0f + scalar_tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

template <float (*kOp)(float)>
void slow_loop(const float *x, float *y, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) y[i] = kOp(x[i]);
}

RNNPACK_NOINLINE void loop_sine_behind(const float *x, float *y, uint32_t n, uint32_t quarters) {
  for (uint32_t i = 0; i < n; ++i) y[i] = sine_behind(x[i], quarters);
}
template <uint32_t kQuarters>
void loop_sine(const float *x, float *y, uint32_t n) {
  loop_sine_behind(x, y, n, kQuarters);
}

using LoopFn = void (*)(const float *, float *, uint32_t);

LoopFn loop_for(uint32_t act) {
  switch (Act(act)) {
    case Act::kSign:
      return slow_loop<sign_of>;
    case Act::kRound:
      return slow_loop<round_of>;
    case Act::kErf:
      return slow_loop<erf_of>;
    case Act::kGelu:
      return slow_loop<gelu_of>;
    case Act::kGeluTanh:
      return slow_loop<gelu_tanh_of>;
    case Act::kSin:
      return loop_sine<0>;
    case Act::kCos:
      return loop_sine<1>;
    default:
      return nullptr;
  }
}

struct UnaryMore {
  RNNPACK_BYTES_32(8);
  LoopFn fn;
  uint32_t elems;
};

bool accepts_slow_unary(const OpChoice &choice, const BlobNode &node) {
  const AttrUnary *a = choice.model->attr<AttrUnary>(node);
  return a != nullptr && a->act.act > uint32_t(kLastKernelAct);
}

rnnp_status check_slow_unary(const Model &m, const BlobNode &node) {
  const AttrUnary *a = m.attr<AttrUnary>(node);
  return a != nullptr && loop_for(a->act.act) != nullptr && is_elementwise(m, node) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build_slow_unary(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  UnaryMore *u = env->arena->take<UnaryMore>(1);
  *object = u;
  if (u != nullptr) *u = {loop_for(m.attr<AttrUnary>(node)->act.act), m.values[m.node_output(node, 0)].row_elems};
  return RNNP_OK;
}

void run_slow_unary(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const UnaryMore &u = *static_cast<const UnaryMore *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) u.fn(row_of(env.values[x], row), row_of(env.values[y], row), u.elems);
}

}  // namespace

RNNPACK_OP(unary_without_kernel,
           {OpKind::kUnary, accepts_slow_unary, check_slow_unary, nullptr, build_slow_unary, nullptr, run_slow_unary});

}  // namespace rnnp
