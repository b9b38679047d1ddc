# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm Linux with Debian's cross GCC.
set(RNNPACK_TRIPLE aarch64-linux-gnu)
set(RNNPACK_PROCESSOR aarch64)
set(RNNPACK_QEMU qemu-aarch64-static)
set(CMAKE_C_COMPILER ${RNNPACK_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${RNNPACK_TRIPLE}-g++)
include(${CMAKE_CURRENT_LIST_DIR}/parts/linux-cross.cmake)
