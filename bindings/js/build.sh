#!/bin/sh
# build.sh [BUILD] -- makes rnnpack.wasm (simd128) and rnnpack-scalar.wasm (every engine) beside package.json. BUILD-wasm and
# BUILD-wasm-scalar (default: build in the tree) keep the objects. Needs clang-19, lld-19, llvm-19 (packages-build.txt).
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=${1:-$root/build}
launcher=$(command -v ccache || true)
exports=$(python3 -c "import json, sys
for f in json.load(open(sys.argv[1]))['functions']:
    if f['header'] == 'rnnpack.h' and not f['inline']: print(f['name'])" "$root/include/rnnpack/rnnpack.abi.json")

# -fno-builtin: a loop that copies is not to become a call of the function it stands in.
one() {  # one NAME FOLDER SCALAR FEATURES
  cmake -S "$root" -B "$2" --toolchain "$root/toolchains/wasm32.cmake" -DRNNPACK_WASM_SCALAR="$3" -DCMAKE_BUILD_TYPE=MinSizeRel \
    -DRNNPACK_INSTALL=OFF ${launcher:+-DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"} >"$2.log" 2>&1 || { cat "$2.log"; exit 1; }
  cmake --build "$2" --target rnnpack -j "${JOBS:-2}" >>"$2.log" 2>&1 || { tail -n 40 "$2.log"; exit 1; }
  # shellcheck disable=SC2086
  clang-19 --target=wasm32-unknown-unknown $4 -Os -fno-builtin -Wall -Wextra -Werror -c "$here/src/runtime.c" -o "$2/runtime.o"
  # shellcheck disable=SC2046
  wasm-ld-19 --no-entry --gc-sections --strip-all -O2 -z stack-size=65536 --stack-first --initial-memory=262144 \
    --export=__heap_base $(printf ' --export=%s' $exports) "$2/runtime.o" "$2/src/librnnpack.a" -o "$here/$1"
}
one rnnpack.wasm "$build-wasm" OFF "-msimd128 -mbulk-memory"
one rnnpack-scalar.wasm "$build-wasm-scalar" ON "-mcpu=mvp"
