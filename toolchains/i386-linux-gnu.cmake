# SPDX-License-Identifier: Apache-2.0
# 32-bit x86 Linux on a 64-bit machine (g++-12-multilib): 32-bit sizes and pointers without an emulator. SSE, so that sums are rounded to
# single precision. The kernel's headers are the 64-bit ones: a package that would bring others excludes cross compilers.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER gcc-12)
set(CMAKE_CXX_COMPILER g++-12)
set(CMAKE_C_FLAGS_INIT "-m32 -msse2 -mfpmath=sse -idirafter /usr/include/x86_64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT "-m32 -msse2 -mfpmath=sse -idirafter /usr/include/x86_64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR env)
