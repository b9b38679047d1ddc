# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm Linux, hard float, with Debian's cross GCC. The baseline has no NEON; kernels that use it are chosen at run time.
set(RNNPACK_TRIPLE arm-linux-gnueabihf)
set(RNNPACK_PROCESSOR armv7l)
set(RNNPACK_QEMU qemu-arm-static)
set(CMAKE_C_COMPILER ${RNNPACK_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${RNNPACK_TRIPLE}-g++)
# Silences a note about parameter passing that changed in GCC 7; nothing older is linked.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
include(${CMAKE_CURRENT_LIST_DIR}/parts/linux-cross.cmake)
