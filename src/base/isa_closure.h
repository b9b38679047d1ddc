// isa_closure.h -- instruction sets with those that they build on. Pure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_ISA_CLOSURE_H_
#define RNNPACK_BASE_ISA_CLOSURE_H_

#include <stdint.h>

#include "rnnpack/rnnpack.h"

namespace rnnp {

inline uint32_t isa_closure(uint32_t bits) {
  uint32_t all = bits;
#define RNNPACK_ISA(set, bit, text, builds_on, flags, qemu, test) \
  if ((bits & RNNP_ISA_##bit) && (builds_on) != 0) all |= builds_on;
#include "base/isa.inc"
#undef RNNPACK_ISA
  return all;
}

}  // namespace rnnp
#endif  // RNNPACK_BASE_ISA_CLOSURE_H_
