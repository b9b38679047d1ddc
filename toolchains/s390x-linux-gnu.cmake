# SPDX-License-Identifier: Apache-2.0
# 64-bit big-endian Linux with Debian's cross GCC: a CPU whose byte order the library refuses (tests/device/big_endian_test.c).
set(RNNPACK_TRIPLE s390x-linux-gnu)
set(RNNPACK_PROCESSOR s390x)
set(RNNPACK_QEMU qemu-s390x-static)
set(CMAKE_C_COMPILER ${RNNPACK_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${RNNPACK_TRIPLE}-g++)
include(${CMAKE_CURRENT_LIST_DIR}/parts/linux-cross.cmake)
