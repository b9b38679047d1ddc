# SPDX-License-Identifier: Apache-2.0
# Any desktop by `zig cc`, which brings the C libraries of all of them: -DRNNPACK_ZIG_TARGET=aarch64-macos, x86_64-macos,
# x86_64-windows-gnu, x86_64-linux-musl, aarch64-linux-musl, aarch64-linux-gnu.2.28 (the C library's version). RNNPACK_ZIG_FOLDER has
# the programs TARGET-cc, TARGET-c++, TARGET-libc++, ar and ranlib (scripts/setup_zig.sh). -DRNNPACK_ZIG_LIBCXX=ON: with a C++ library,
# for the compiler and the wheels.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RNNPACK_ZIG_TARGET RNNPACK_ZIG_FOLDER RNNPACK_ZIG_LIBCXX)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${RNNPACK_ZIG_TARGET})
if(RNNPACK_ZIG_TARGET MATCHES macos)
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_INSTALL_NAME_TOOL /bin/true)  # nothing is installed
elseif(RNNPACK_ZIG_TARGET MATCHES windows)
  set(CMAKE_SYSTEM_NAME Windows)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
set(CMAKE_C_COMPILER ${RNNPACK_ZIG_FOLDER}/${RNNPACK_ZIG_TARGET}-cc)
if(RNNPACK_ZIG_LIBCXX)
  set(CMAKE_CXX_COMPILER ${RNNPACK_ZIG_FOLDER}/${RNNPACK_ZIG_TARGET}-libc++)
else()
  set(CMAKE_CXX_COMPILER ${RNNPACK_ZIG_FOLDER}/${RNNPACK_ZIG_TARGET}-c++)
endif()
# No programs: nothing is linked while CMake looks at the compiler. zig would make its C++ library anew for each set of flags.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_AR ${RNNPACK_ZIG_FOLDER}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${RNNPACK_ZIG_FOLDER}/ranlib CACHE FILEPATH "")
