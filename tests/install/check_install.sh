#!/bin/sh
# check_install.sh BUILD CONSUMER.c BLOB -- installs into a fresh prefix, builds a C program outside the tree both ways, runs it.
# SPDX-License-Identifier: Apache-2.0
set -eu
build=$1 consumer=$2 blob=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
sanitize=$(sed -n 's/^RNNPACK_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
flags=""
[ -z "$sanitize" ] || flags="-fsanitize=$sanitize"

mkdir "$work/app"
cp "$consumer" "$work/app/main.c"
cat >"$work/app/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.18)
project(app C)
find_package(rnnpack REQUIRED)
add_executable(app main.c)
target_link_libraries(app PRIVATE rnnpack::rnnpack)
EOF
cmake -S "$work/app" -B "$work/app/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
cmake --build "$work/app/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/app/build/app" "$blob"
echo "find_package: ok"

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name rnnpack.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046,SC2086
"$cc" $flags -std=c99 -Wall -Wextra -Werror -pedantic "$consumer" -o "$work/app/pc" $(pkg-config --cflags --libs --static rnnpack)
"$work/app/pc" "$blob"
echo "pkg-config: ok"
