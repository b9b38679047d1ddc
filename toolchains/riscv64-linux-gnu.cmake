# SPDX-License-Identifier: Apache-2.0
# 64-bit RISC-V Linux with clang (GCC 12 has no vector intrinsics) and Debian's cross C++ library. The baseline is rv64gc; kernels
# that use the vector extension are chosen at run time. QEMU_CPU=rv64,v=true,vlen=256 turns it on in the emulator.
set(RNNPACK_TRIPLE riscv64-linux-gnu)
set(RNNPACK_PROCESSOR riscv64)
set(RNNPACK_QEMU qemu-riscv64-static)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET ${RNNPACK_TRIPLE})
set(CMAKE_CXX_COMPILER_TARGET ${RNNPACK_TRIPLE})
set(CMAKE_C_FLAGS_INIT -march=rv64gc)
set(CMAKE_CXX_FLAGS_INIT -march=rv64gc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld)
include(${CMAKE_CURRENT_LIST_DIR}/parts/linux-cross.cmake)
