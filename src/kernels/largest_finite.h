// largest_finite.h -- the largest size of a row's floats, one by one. Room: kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_LARGEST_FINITE_H_
#define RNNPACK_KERNELS_LARGEST_FINITE_H_

#include <stddef.h>

#include "kernels/inlining.h"

namespace rnnp {
namespace {

// Of those that are finite. One file of a model for another CPU holds it too, unused.
[[maybe_unused]] RNNPACK_NOINLINE float largest_finite(const float *a, size_t k) {
  float most = 0.0f;
  for (size_t i = 0; i < k; ++i) {
    const float size = __builtin_fabsf(a[i]);
    if (size > most && size < __builtin_inff()) most = size;
  }
  return most;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_LARGEST_FINITE_H_
