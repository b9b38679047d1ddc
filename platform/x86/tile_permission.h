// tile_permission.h -- whether this process may use the tiles of AMX, and the request for them. Linux lets a process ask once, for
// all of its threads; the library only looks (isa_of_cpu.h), because what a process may do is its program's to decide. Plain system
// calls: no C library. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_X86_TILE_PERMISSION_H_
#define RNNPACK_PLATFORM_X86_TILE_PERMISSION_H_

namespace rnnp {

#if defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)
inline long arch_prctl(long code, unsigned long argument) {
  constexpr long kArchPrctl = 158;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(kArchPrctl), "D"(code), "S"(argument) : "rcx", "r11", "memory");
  return result;
}

// ARCH_GET_XCOMP_PERM. False where the kernel is older than such permissions, and where the CPU has no tiles.
inline bool may_use_tiles() {
  unsigned long states = 0;
  return arch_prctl(0x1022, reinterpret_cast<unsigned long>(&states)) == 0 && (states >> 18 & 1) != 0;
}

// ARCH_REQ_XCOMP_PERM. Refused where a thread's stack for signals is too small for the tiles to be saved on.
inline bool request_tiles() {
  return arch_prctl(0x1023, 18) == 0 && may_use_tiles();
}
#else
inline bool may_use_tiles() {
  return false;
}
inline bool request_tiles() {
  return false;
}
#endif

}  // namespace rnnp
#endif  // RNNPACK_PLATFORM_X86_TILE_PERMISSION_H_
