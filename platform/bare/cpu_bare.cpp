// cpu_bare.cpp -- bare metal and WebAssembly: no operating system, no heap, no files. What the CPU can do was fixed when the
// library was compiled (base/compiled_isa.h), and a WebAssembly module with simd128 does not load where there is none.
// SPDX-License-Identifier: Apache-2.0
#include "platform/platform.h"

namespace rnnp {

CpuFacts platform_cpu() {
  return {};
}

}  // namespace rnnp
