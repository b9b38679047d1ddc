// unary_more.cpp -- the element-wise operators without a kernel: Sign, Round, Erf, Gelu, Sin and Cos; threads own rows.
// Touches its output only; in place allowed. A second Op beside pointwise.cpp's, so that firmware without them links none of it.
// SPDX-License-Identifier: Apache-2.0
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

// x as a multiple of pi/2 to the nearest, and what is left.
struct Quarter {
  uint32_t turns;
  float rest;
};

// The bits of 2/pi behind a word of zeros: of x = m 2^e, those that make whole turns are left out.
Quarter far_quarter(uint32_t bits) {
  static constexpr uint32_t kTwoOverPi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                            0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
  const uint32_t m = (bits & 0x7fffffu) | 0x800000u, at = (bits >> 23 & 255u) - 120u;  // e - 2 + 32
  const uint32_t *w = kTwoOverPi + at / 32;
  const uint32_t shift = at % 32;
  uint32_t part[3];
  for (uint32_t i = 0; i < 3; ++i) part[i] = shift == 0 ? w[i] : (w[i] << shift) | (w[i + 1] >> (32 - shift));
  const uint64_t low = uint64_t{m} * part[2], middle = uint64_t{m} * part[1] + (low >> 32);
  const uint32_t high = m * part[0] + static_cast<uint32_t>(middle >> 32);
  const uint32_t up = high >> 29 & 1u;  // from a half on, to the next
  const int32_t top = static_cast<int32_t>(high << 2 | static_cast<uint32_t>(middle) >> 30);
  const float fraction = static_cast<float>(top) * 2.3283064e-10f +
                         static_cast<float>(static_cast<uint32_t>(middle) >> 6 & 0xffffffu) * 1.3877788e-17f;
  return {(high >> 30) + up, fraction * 1.5707964f};
}

Quarter quarter_of(float x) {
  const uint32_t size = float_bits(x) & 0x7fffffffu;
  Quarter q;
  if (size < 0x46000000u) {  // 8192: the multiples of the parts are exact
    const float wanted = x * 0.63661977f;
    const int32_t turns = static_cast<int32_t>(wanted + (wanted < 0.0f ? -0.5f : 0.5f));
    const float n = static_cast<float>(turns);
    q = {static_cast<uint32_t>(turns), ((x - n * 1.5703125f) - n * 4.8351288e-4f) - n * 3.1385572e-7f - n * 6.0771005e-11f};
  } else {
    q = far_quarter(size);
    if (x < 0.0f) q = {0u - q.turns, -q.rest};
  }
  return q;
}

float sine_at(uint32_t turns, float x) {
  static constexpr float kSine[] = {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f};
  static constexpr float kCosine[] = {4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f};
  const float z = x * x;
  const float y = (turns & 1u) != 0 ? 1.0f - 0.5f * z + z * z * polynomial(kCosine, z) : x * (1.0f + z * polynomial(kSine, z));
  return (turns & 2u) != 0 ? -y : y;
}

float sin_of(float x) {
  if (!(scalar_abs(x) <= 3.4028235e38f)) return x - x;
  const Quarter q = quarter_of(x);
  return sine_at(q.turns, q.rest);
}

float cos_of(float x) {
  if (!(scalar_abs(x) <= 3.4028235e38f)) return x - x;
  const Quarter q = quarter_of(x);
  return sine_at(q.turns + 1, q.rest);
}

template <float (*kOp)(float)>
void loop(const float *x, float *y, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) y[i] = kOp(x[i]);
}

using LoopFn = void (*)(const float *, float *, uint32_t);

LoopFn loop_for(uint32_t act) {
  switch (Act(act)) {
    case Act::kSign:
      return loop<sign_of>;
    case Act::kRound:
      return loop<round_of>;
    case Act::kErf:
      return loop<erf_of>;
    case Act::kGelu:
      return loop<gelu_of>;
    case Act::kGeluTanh:
      return loop<gelu_tanh_of>;
    case Act::kSin:
      return loop<sin_of>;
    case Act::kCos:
      return loop<cos_of>;
    default:
      return nullptr;
  }
}

struct UnaryMore {
  LoopFn fn;
  uint32_t elems;
};

bool accepts(const OpChoice &choice, const BlobNode &node) {
  const AttrUnary *a = choice.model->attr<AttrUnary>(node);
  return a != nullptr && a->act.act > uint32_t(kLastKernelAct);
}

rnnp_status check(const Model &m, const BlobNode &node) {
  const AttrUnary *a = m.attr<AttrUnary>(node);
  return a != nullptr && loop_for(a->act.act) != nullptr && is_elementwise(m, node) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  UnaryMore *u = env->arena->take<UnaryMore>(1);
  *object = u;
  if (u != nullptr) *u = {loop_for(m.attr<AttrUnary>(node)->act.act), m.values[m.node_output(node, 0)].row_elems};
  return RNNP_OK;
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const UnaryMore &u = *static_cast<const UnaryMore *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) u.fn(row_of(env.values[x], row), row_of(env.values[y], row), u.elems);
}

}  // namespace

RNNPACK_OP(unary_more, {OpKind::kUnary, accepts, check, nullptr, build, nullptr, run});

}  // namespace rnnp
