// compiled_isa.h -- the RNNP_ISA_* bits that this translation unit's compiler flags promise: a CPU without them could not run the
// program at all. The platform tells the rest at run time.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_COMPILED_ISA_H_
#define RNNPACK_BASE_COMPILED_ISA_H_

#include <stdint.h>

#include "rnnpack/rnnpack.h"

#ifndef RNNPACK_REFERENCE_KERNELS
#include "base/isa.inc"
#endif

namespace rnnp {

// 1 where the macro x is defined as 1, else 0.
#define RNNPACK_IS_ONE(x) RNNPACK_IS_ONE_OF(x)
#define RNNPACK_IS_ONE_OF(x) RNNPACK_SECOND_OF(RNNPACK_COMMA_AT_##x 1, 0, )
#define RNNPACK_COMMA_AT_1 0,
#define RNNPACK_SECOND_OF(...) RNNPACK_TAKE_SECOND(__VA_ARGS__)
#define RNNPACK_TAKE_SECOND(first, second, ...) second
constexpr uint32_t compiled_isa() {
  uint32_t bits = 0;
#define RNNPACK_ISA(set, bit, text, builds_on, flags, qemu, test) \
  if (RNNPACK_IS_ONE(RNNPACK_COMPILED_##set) != 0) bits |= RNNP_ISA_##bit;
#include "base/isa.inc"
#undef RNNPACK_ISA
  return bits;
}
#undef RNNPACK_IS_ONE
#undef RNNPACK_IS_ONE_OF
#undef RNNPACK_COMMA_AT_1
#undef RNNPACK_SECOND_OF
#undef RNNPACK_TAKE_SECOND

constexpr uint32_t kCompiledIsa = compiled_isa();

}  // namespace rnnp
#endif  // RNNPACK_BASE_COMPILED_ISA_H_
