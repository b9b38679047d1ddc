#!/bin/bash
# check_included.sh SOURCE CC CXX -- a project that has this one as a part of it (add_subdirectory, FetchContent) and flags of its own
# that warn about everything: warnings stay warnings, and its build type and install target stay its own.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$1 cc=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(outer C CXX)
set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
add_compile_options(-Wpadded -Wunused-macros)
add_subdirectory($source rnnpack)
add_executable(app main.c)
set_target_properties(app PROPERTIES COMPILE_WARNING_AS_ERROR OFF)
target_link_libraries(app PRIVATE rnnpack::rnnpack)
install(TARGETS app)
END
cat >"$work/main.c" <<END
#include <rnnpack/rnnpack.h>
int main(void) { return rnnp_version() == RNNP_HEADER_VERSION ? 0 : 1; }
END
log=$work/log
cmake -S "$work" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$log" 2>&1 || { cat "$log"; exit 1; }
# The layers with the public functions are enough: they are compiled like all others.
cmake --build "$work/build" --target rnnpack_runtime rnnpack_format >"$log" 2>&1 || { cat "$log"; exit 1; }
grep -q 'Wpadded' "$log" || { echo "nothing warned, so nothing was shown"; cat "$log"; exit 1; }
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$work/build/CMakeCache.txt" || { echo "the build type was changed"; exit 1; }
if grep -rq 'librnnpack' "$work/build/cmake_install.cmake" "$work/build/rnnpack/cmake_install.cmake"; then echo "the library is in the outer install target"; exit 1; fi
echo "included: ok"
