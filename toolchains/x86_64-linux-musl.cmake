# SPDX-License-Identifier: Apache-2.0
# x86-64 Linux on the musl C library. Debian has no C++ library for musl and none is needed: the library's C++ links with cc alone.
set(CMAKE_SYSTEM_NAME Linux)
set(RNNPACK_C_ONLY ON)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_CXX_FLAGS_INIT "-specs=/usr/lib/x86_64-linux-musl/musl-gcc.specs")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH /usr/lib/x86_64-linux-musl)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The same machine: programs run without an emulator.
set(CMAKE_CROSSCOMPILING_EMULATOR env)
