#!/bin/bash
# check_install.sh BUILD CONSUMER.c BLOB -- installs into a fresh prefix, builds a C program outside the tree in every way that a
# stranger may link it, runs it, and looks which library it took.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
build=$1 consumer=$2 blob=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
for notice in LICENSE THIRD_PARTY_NOTICES; do
  cmp -s "$(find "$work/prefix/share/doc/rnnpack" -name $notice)" "$(dirname "$0")/../../$notice" || { echo "$notice is not installed"; exit 1; }
done
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cc=$(cached CMAKE_C_COMPILER)
flags=()
[ -z "$(cached RNNPACK_SANITIZE)" ] || flags=("-fsanitize=$(cached RNNPACK_SANITIZE)")
pc=$(dirname "$(find "$work/prefix" -name rnnpack.pc)")
export PKG_CONFIG_PATH=$pc
needs_shared() { readelf -d "$1" | grep -q 'NEEDED.*librnnpack\.so\.1\]'; }
# Nothing but the C library, and what a sanitizer brings along.
needs_nothing() { [ ${#flags[@]} -gt 0 ] || ! readelf -d "$1" | grep NEEDED | grep -vE '\[(libc|libm|librnnpack|ld-linux[a-z0-9_-]*)\.so'; }

# by_cmake COMPONENTS TARGET: prints the program.
by_cmake() {
  local app=$work/app-${2//:/}
  mkdir -p "$app"
  cp "$consumer" "$app/main.c"
  cat >"$app/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(app C)
find_package(rnnpack 1.0 REQUIRED $1)
add_executable(app main.c)
target_link_libraries(app PRIVATE $2)
END
  { cmake -S "$app" -B "$app/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="${flags[*]}" &&
    cmake --build "$app/build"; } >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  echo "$app/build/app"
}

# by_hand NAME arguments...: prints the program.
by_hand() {
  local out=$work/$1
  shift
  "$cc" "${flags[@]}" -std=c99 -Wall -Wextra -Werror -pedantic "$consumer" -o "$out" "$@"
  echo "$out"
}

for components in "" "COMPONENTS static"; do
  program=$(by_cmake "$components" rnnpack::rnnpack)
  "$program" "$blob"
  ! needs_shared "$program"
  needs_nothing "$program"
done
echo "find_package, archive: ok"
if by_cmake "COMPONENTS nonsense" rnnpack::rnnpack 2>/dev/null; then echo "a component that there is not was found"; exit 1; fi

# shellcheck disable=SC2046
program=$(by_hand archive $(pkg-config --cflags --libs rnnpack-static))
"$program" "$blob"
! needs_shared "$program"
needs_nothing "$program"
echo "pkg-config, archive: ok"

if [ -f "$pc/rnnpack-hosted.pc" ]; then
  program=$(by_cmake "COMPONENTS hosted" rnnpack::hosted)
  "$program" "$blob"
  # shellcheck disable=SC2046
  program=$(by_hand hosted $(pkg-config --cflags --libs rnnpack-hosted))
  "$program" "$blob"
  if [ "$(cached RNNPACK_XNNPACK)" = ON ]; then
    readelf -d "$program" | grep -q 'NEEDED.*libXNNPACK\.' || { echo "the hosted archive does without XNNPACK"; exit 1; }
  fi
  echo "hosted archive, both ways: ok"
elif by_cmake "COMPONENTS hosted" rnnpack::hosted 2>/dev/null; then
  echo "a hosted archive that there is not was found"; exit 1
fi

if [ -n "$(find "$work/prefix" -name 'librnnpack_compiler.so')" ]; then
  consumer=$(dirname "$0")/compiler_consumer.c model=$(dirname "$0")/../../models/vad_gru/model.onnx
  program=$(by_cmake "COMPONENTS compiler" rnnpack::compiler)
  "$program" "$model"
  # shellcheck disable=SC2046
  program=$(by_hand compiler $(pkg-config --cflags --libs rnnpack-compiler))
  LD_LIBRARY_PATH=$(dirname "$pc") "$program" "$model"
  consumer=$2
  echo "compiler as a library, both ways: ok"
elif by_cmake "COMPONENTS compiler" rnnpack::compiler 2>/dev/null; then
  echo "a compiler library that there is not was found"; exit 1
fi

if [ -n "$(find "$work/prefix" -name 'librnnpack_cuda.a')" ]; then
  consumer=$(dirname "$0")/cuda_consumer.c
  program=$(by_cmake "COMPONENTS cuda" rnnpack::cuda)
  "$program" "$blob"
  # shellcheck disable=SC2046
  program=$(by_hand cuda $(pkg-config --cflags --libs rnnpack-cuda))
  "$program" "$blob"
  consumer=$2
  echo "CUDA library, both ways: ok"
else
  if by_cmake "COMPONENTS cuda" rnnpack::cuda 2>/dev/null; then echo "a CUDA library that there is not was found"; exit 1; fi
fi

if [ -n "$(find "$work/prefix" -name 'librnnpack.so')" ]; then
  program=$(by_cmake "COMPONENTS shared" rnnpack::shared)
  needs_shared "$program"
  "$program" "$blob"
  # shellcheck disable=SC2046
  program=$(by_hand shared $(pkg-config --cflags --libs rnnpack))
  needs_shared "$program"
  needs_nothing "$program"
  LD_LIBRARY_PATH=$(dirname "$pc") "$program" "$blob"
  echo "shared library, both ways: ok"
else
  echo "shared library: not in this build"
fi

if [ ${#flags[@]} -eq 0 ]; then
  # shellcheck disable=SC2046
  program=$(by_hand static -static $(pkg-config --cflags --libs --static rnnpack))
  "$program" "$blob"
  if readelf -l "$program" | grep -q INTERP; then echo "the static program has a loader"; exit 1; fi
  echo "wholly static: ok"
fi
