// act_body.h -- y = f(x) over a dense row, two-operand arithmetic and softmax, on the SIMD primitives of Vec.
// Room: kernels; included once by act_<isa>.cpp. Touches only its arguments; the last partial vector is loaded and stored masked.
// Contract: kernels.h, ActArgs, BinaryArgs, SoftmaxArgs.
// Why so: softmax sums in 16 fixed lanes whatever the vector's width, so that all ISAs give the same bits.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ACT_BODY_H_
#define RNNPACK_KERNELS_ACT_BODY_H_

#include "kernels/activation_body.h"
#include "kernels/kernels.h"
#include "kernels/scalar_pow.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <Act kAct>
void act_loop(const ActArgs *args) {
  const F alpha = Vec::set1(args->act.alpha), beta = Vec::set1(args->act.beta);
  const float *x = args->x;
  float *y = args->y;
  size_t n = args->n;
  for (; !is_curved(kAct) && n >= Vec::kWidth; n -= Vec::kWidth, x += Vec::kWidth, y += Vec::kWidth)
    Vec::store(y, activate(kAct, Vec::load(x), alpha, beta));
  while (n != 0) {
    const bool whole = is_curved(kAct) && n >= Vec::kWidth;
    const F value = activate(kAct, whole ? Vec::load(x) : Vec::load_first(x, n), alpha, beta);
    if (!whole) return Vec::store_first(y, value, n);
    Vec::store(y, value);
    n -= Vec::kWidth, x += Vec::kWidth, y += Vec::kWidth;
  }
}

[[maybe_unused]] void act_plain_run(const ActArgs *args) {
  switch (static_cast<Act>(args->act.act)) {
    case Act::kRelu:
      return act_loop<Act::kRelu>(args);
    case Act::kTanh:
      return act_loop<Act::kTanh>(args);
    case Act::kSigmoid:
      return act_loop<Act::kSigmoid>(args);
    default:
      return act_loop<Act::kIdentity>(args);
  }
}

void act_run(const ActArgs *args) {
  switch (static_cast<Act>(args->act.act)) {
    case Act::kRelu:
      return act_loop<Act::kRelu>(args);
    case Act::kTanh:
      return act_loop<Act::kTanh>(args);
    case Act::kSigmoid:
      return act_loop<Act::kSigmoid>(args);
    case Act::kAffine:
      return act_loop<Act::kAffine>(args);
    case Act::kLeakyRelu:
      return act_loop<Act::kLeakyRelu>(args);
    case Act::kThresholdedRelu:
      return act_loop<Act::kThresholdedRelu>(args);
    case Act::kScaledTanh:
      return act_loop<Act::kScaledTanh>(args);
    case Act::kHardSigmoid:
      return act_loop<Act::kHardSigmoid>(args);
    case Act::kElu:
      return act_loop<Act::kElu>(args);
    case Act::kSoftsign:
      return act_loop<Act::kSoftsign>(args);
    case Act::kSoftplus:
      return act_loop<Act::kSoftplus>(args);
    case Act::kExp:
      return act_loop<Act::kExp>(args);
    case Act::kLog:
      return act_loop<Act::kLog>(args);
    case Act::kSqrt:
      return act_loop<Act::kSqrt>(args);
    case Act::kAbs:
      return act_loop<Act::kAbs>(args);
    case Act::kNeg:
      return act_loop<Act::kNeg>(args);
    case Act::kReciprocal:
      return act_loop<Act::kReciprocal>(args);
    case Act::kClip:
      return act_loop<Act::kClip>(args);
    case Act::kHardSwish:
      return act_loop<Act::kHardSwish>(args);
    case Act::kFloor:
      return act_loop<Act::kFloor>(args);
    case Act::kCeil:
      return act_loop<Act::kCeil>(args);
    default:
      return act_loop<Act::kIdentity>(args);
  }
}

// min and max give NaN when either operand is NaN.
template <Binary kOp>
RNNPACK_INLINE F combine(F a, F b) {
  if (kOp == Binary::kAdd) return Vec::add(a, b);
  if (kOp == Binary::kSub) return Vec::sub(a, b);
  if (kOp == Binary::kMul) return Vec::mul(a, b);
  if (kOp == Binary::kDiv) return Vec::div(a, b);
  return Vec::select(Vec::is_nan(a), a, kOp == Binary::kMin ? Vec::min(a, b) : Vec::max(a, b));
}

// A step of 0 repeats one value: it is loaded once.
template <Binary kOp>
void binary_loop(const BinaryArgs *args) {
  const size_t n = args->n, a_step = args->a_step, b_step = args->b_step;
  const float *a_row = args->a, *b_row = args->b;
  float *y = args->y;
  for (uint32_t row = args->rows; row != 0; --row, a_row += args->a_row, b_row += args->b_row, y += n) {
    const F a0 = Vec::broadcast(a_row), b0 = Vec::broadcast(b_row);
    size_t i = 0;
    for (; i + Vec::kWidth <= n; i += Vec::kWidth) {
      const F a = a_step ? Vec::load(a_row + i) : a0;
      const F b = b_step ? Vec::load(b_row + i) : b0;
      Vec::store(y + i, combine<kOp>(a, b));
    }
    if (i < n) {
      const F a = a_step ? Vec::load_first(a_row + i, n - i) : a0;
      const F b = b_step ? Vec::load_first(b_row + i, n - i) : b0;
      Vec::store_first(y + i, combine<kOp>(a, b), n - i);
    }
  }
}

void binary_run(const BinaryArgs *args) {
  if (args->n == 0) return;
  switch (static_cast<Binary>(args->op)) {
    case Binary::kAdd:
      return binary_loop<Binary::kAdd>(args);
    case Binary::kSub:
      return binary_loop<Binary::kSub>(args);
    case Binary::kMul:
      return binary_loop<Binary::kMul>(args);
    case Binary::kDiv:
      return binary_loop<Binary::kDiv>(args);
    case Binary::kMin:
      return binary_loop<Binary::kMin>(args);
    case Binary::kMax:
      return binary_loop<Binary::kMax>(args);
    default:
      break;
  }
  for (uint32_t row = 0; row < args->rows; ++row) {
    const float *a = args->a + row * args->a_row, *b = args->b + row * args->b_row;
    float *y = args->y + row * args->n;
    for (size_t i = 0; i < args->n; ++i) y[i] = scalar_pow(a[i * args->a_step], b[i * args->b_step]);
  }
}

constexpr uint32_t kLanes = 16;
constexpr uint32_t kLaneVectors = kLanes / Vec::kWidth;

// 16 lanes as vectors; `fill` stands where there is no element.
struct Lanes {
  F v[kLaneVectors];
};

RNNPACK_INLINE Lanes lanes_set(float value) {
  Lanes out;
  for (uint32_t v = 0; v < kLaneVectors; ++v) out.v[v] = Vec::set1(value);
  return out;
}

RNNPACK_INLINE Lanes lanes_load(const float *x, uint32_t stride, uint32_t n, float fill) {
  Lanes out;
  if (stride == 1 && n >= kLanes) {
    for (uint32_t v = 0; v < kLaneVectors; ++v) out.v[v] = Vec::load(x + v * Vec::kWidth);
    return out;
  }
  alignas(64) float buffer[kLanes];
  for (uint32_t i = 0; i < kLanes; ++i) buffer[i] = i < n ? x[size_t{i} * stride] : fill;
  for (uint32_t v = 0; v < kLaneVectors; ++v) out.v[v] = Vec::load(buffer + v * Vec::kWidth);
  return out;
}

RNNPACK_INLINE void lanes_store(float *y, uint32_t stride, uint32_t n, const Lanes &lanes) {
  if (stride == 1 && n >= kLanes) {
    for (uint32_t v = 0; v < kLaneVectors; ++v) Vec::store(y + v * Vec::kWidth, lanes.v[v]);
    return;
  }
  alignas(64) float buffer[kLanes];
  for (uint32_t v = 0; v < kLaneVectors; ++v) Vec::store(buffer + v * Vec::kWidth, lanes.v[v]);
  for (uint32_t i = 0; i < kLanes && i < n; ++i) y[size_t{i} * stride] = buffer[i];
}

RNNPACK_INLINE float lanes_max(const Lanes &lanes) {
  alignas(64) float lane[kLanes];
  for (uint32_t v = 0; v < kLaneVectors; ++v) Vec::store(lane + v * Vec::kWidth, lanes.v[v]);
  for (uint32_t half = kLanes / 2; half != 0; half /= 2)
    for (uint32_t i = 0; i < half; ++i) lane[i] = lane[i] > lane[i + half] ? lane[i] : lane[i + half];
  return lane[0];
}

RNNPACK_INLINE float lanes_sum(const Lanes &lanes) {
  alignas(64) float lane[kLanes];
  for (uint32_t v = 0; v < kLaneVectors; ++v) Vec::store(lane + v * Vec::kWidth, lanes.v[v]);
  for (uint32_t half = kLanes / 2; half != 0; half /= 2)
    for (uint32_t i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

// A NaN may be lost in the maximum but not in the sum, which every output is divided by (or has subtracted).
void softmax_run(const SoftmaxArgs *args) {
  const uint32_t n = args->n, stride = args->stride;
  const float minus_inf = -__builtin_inff();
  Lanes top = lanes_set(minus_inf);
  for (uint32_t i = 0; i < n; i += kLanes) {
    const Lanes x = lanes_load(args->x + size_t{i} * stride, stride, n - i, minus_inf);
    for (uint32_t v = 0; v < kLaneVectors; ++v) top.v[v] = Vec::max(top.v[v], x.v[v]);
  }
  const F shift = Vec::set1(lanes_max(top));

  Lanes sum = lanes_set(0.0f);
  for (uint32_t i = 0; i < n; i += kLanes) {
    Lanes x = lanes_load(args->x + size_t{i} * stride, stride, n - i, minus_inf);
    for (uint32_t v = 0; v < kLaneVectors; ++v) {
      x.v[v] = exp(Vec::sub(x.v[v], shift));
      sum.v[v] = Vec::add(sum.v[v], x.v[v]);
    }
    if (!args->log) lanes_store(args->y + size_t{i} * stride, stride, n - i, x);
  }
  const F total = Vec::set1(lanes_sum(sum));
  const F log_total = log(total);

  for (uint32_t i = 0; i < n; i += kLanes) {
    const float *from = (args->log ? args->x : args->y) + size_t{i} * stride;
    Lanes x = lanes_load(from, stride, n - i, 0.0f);
    for (uint32_t v = 0; v < kLaneVectors; ++v)
      x.v[v] = args->log ? Vec::sub(Vec::sub(x.v[v], shift), log_total) : Vec::div(x.v[v], total);
    lanes_store(args->y + size_t{i} * stride, stride, n - i, x);
  }
}

// The function of a family's row.
template <KernelFamily kFamily>
constexpr auto act_function() {
  if constexpr (kFamily == KernelFamily::kAct)
    return act_run;
  else if constexpr (kFamily == KernelFamily::kActPlain)
    return act_plain_run;
  else if constexpr (kFamily == KernelFamily::kBinary)
    return binary_run;
  else
    return softmax_run;
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_ACT_BODY_H_
