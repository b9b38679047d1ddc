// act_ref.cpp -- activations, two-operand arithmetic and softmax in plain loops.
// Room: kernels. Contract: kernels.h, ActArgs, BinaryArgs, SoftmaxArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"
#include "kernels/scalar_math.h"

namespace rnnp {
namespace {

void ref_act(const ActArgs *args) {
  for (size_t i = 0; i < args->n; ++i) args->y[i] = scalar_activate(args->act, args->x[i]);
}

void ref_act_plain(const ActArgs *args) {
  const Act act = static_cast<Act>(args->act.act);
  for (size_t i = 0; i < args->n; ++i) {
    const float x = args->x[i];
    args->y[i] = act == Act::kTanh               ? scalar_tanh(x)
                 : act == Act::kSigmoid          ? scalar_sigmoid(x)
                 : act == Act::kRelu && x < 0.0f ? 0.0f
                                                 : x;
  }
}

float combine(Binary op, float a, float b) {
  switch (op) {
    case Binary::kAdd:
      return a + b;
    case Binary::kMul:
      return a * b;
    case Binary::kSub:
      return a - b;
    case Binary::kDiv:
      return a / b;
    case Binary::kMin:
      return a != a ? a : a < b ? a : b;
    case Binary::kMax:
      return a != a ? a : a > b ? a : b;
    case Binary::kPow:
      return scalar_pow(a, b);
    default:
      break;
  }
  return a;
}

void ref_binary(const BinaryArgs *args) {
  if (args->n == 0) return;
  for (uint32_t row = 0; row < args->rows; ++row) {
    const float *a = args->a + row * args->a_row, *b = args->b + row * args->b_row;
    float *y = args->y + row * args->n;
    const float a0 = a[0], b0 = b[0];  // a repeated operand may be overwritten by y: it is read once, before
    for (size_t i = 0; i < args->n; ++i)
      y[i] = combine(static_cast<Binary>(args->op), args->a_step ? a[i] : a0, args->b_step ? b[i] : b0);
  }
}

void ref_softmax(const SoftmaxArgs *args) {
  const size_t stride = args->stride;
  float top = -__builtin_inff();
  for (uint32_t i = 0; i < args->n; ++i) top = args->x[i * stride] > top ? args->x[i * stride] : top;
  float sum = 0.0f;
  for (uint32_t i = 0; i < args->n; ++i) sum += scalar_exp(args->x[i * stride] - top);
  const float log_sum = scalar_log(sum);
  for (uint32_t i = 0; i < args->n; ++i) {
    const float shifted = args->x[i * stride] - top;
    args->y[i * stride] = args->log ? shifted - log_sum : scalar_exp(shifted) / sum;
  }
}

// The function of a family's row.
template <KernelFamily kFamily>
constexpr auto act_function() {
  if constexpr (kFamily == KernelFamily::kAct)
    return ref_act;
  else if constexpr (kFamily == KernelFamily::kActPlain)
    return ref_act_plain;
  else if constexpr (kFamily == KernelFamily::kBinary)
    return ref_binary;
  else
    return ref_softmax;
}

}  // namespace

#define RNNPACK_IN_act_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) act_function<KernelFamily::family>()
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
