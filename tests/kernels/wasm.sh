#!/bin/bash
# wasm.sh <build folder> [GoogleTest arguments]: the kernel tests as a WASI program under node.
# Needs clang-19, lld-19, wasi-libc, libc++-19-dev-wasm32, libclang-rt-19-dev-wasm32, googletest, nodejs. Exits 0 when all tests pass.
# SPDX-License-Identifier: Apache-2.0
set -eu
out=$1
shift
cd "$(dirname "$0")/../.."
mkdir -p "$out"
googletest=/usr/src/googletest/googletest
target="--target=wasm32-wasi -msimd128"
compile="$target -O2 -std=c++17 -fno-exceptions -fno-rtti -ffp-contract=off -fno-math-errno -Iinclude -Isrc -I. -Itests -Itests/kernels -DRNNPACK_HAVE_SIMD128=1
  -isystem $googletest/include -isystem $googletest -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_GETPID -w"
for feature in POSIX_RE DEATH_TEST STREAM_REDIRECTION PTHREAD EXCEPTIONS RTTI; do compile="$compile -DGTEST_HAS_$feature=0"; done
objects=""
for source in src/kernels/*.cpp src/pack/*.cpp tests/kernels/*{test,support,oracle}.cpp tests/support/{equations,tile_emulator}.cpp \
  "$googletest"/src/gtest-all.cc "$googletest"/src/gtest_main.cc; do
  object=$out/$(basename "$source").o
  $(command -v ccache) clang++-19 $compile -c "$source" -o "$object"
  objects="$objects $object"
done
clang++-19 $target -Wl,-z,stack-size=1048576 $objects -o "$out/kernels_test.wasm"
exec node --no-warnings toolchains/parts/run-wasi.mjs "$out/kernels_test.wasm" "$@"
