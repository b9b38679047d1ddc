#!/bin/sh
# test_bindings.sh BUILD [LANGUAGE...] -- builds the library, the tool and the suite's C program into BUILD, then runs the common suite in
# each language (bindings/test_bindings.py). SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
shift
launcher=""
command -v ccache >/dev/null && launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache"
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja $launcher -DCMAKE_BUILD_TYPE=Release -DRNNPACK_COMPILER=ON -DRNNPACK_BINDINGS=ON >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target rnnpack rnnpack_shared rnnpack_tool rnnpack_compiler_shared suite_c >"$build.log" 2>&1 || { tail -n 60 "$build.log"; exit 1; }
exec bindings/test_bindings.py "$build" "$@"
