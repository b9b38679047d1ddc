#!/bin/bash
# tidy_host.sh BUILD FOLDER... -- clang-tidy over the host's code of these folders (src/compiler, tests, ...), with the checks of the
# first one's .clang-tidy, as BUILD is to compile it: several files as one, so that headers are read once. PART=NUMBER/COUNT: only one
# of so many parts of them.
# SPDX-License-Identifier: Apache-2.0
set -u
build=$1
shift
cd "$(dirname "$0")/.." || exit 1
cmake -S . -B "$build" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang -DRNNPACK_COMPILER=ON -DRNNPACK_CUDA=EMULATED -DRNNPACK_TESTS=ON >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
folders=$(IFS='|'; echo "$*")
# What a build writes first is no part of it, nor is the emulator, whose threads are the device's.
files=$(sed -n 's/^ *"file": "\(.*\.c[px][px]\)",*$/\1/p' "$build/compile_commands.json" | sort -u | grep -E "/($folders)/" |
  grep -vE 'cmake_pch|precompiled_|library_sources|/src/cuda/(emulator|kernels)/')
files=$(scripts/one_part.sh "${PART:-0/1}" <<<"$files")
[ -n "$files" ] || { echo "tidy_host.sh: $build compiles nothing of $*" >&2; exit 1; }
echo "$files" | xargs -P "${JOBS:-$(nproc)}" -n 1 clang-tidy --quiet -p "$build" --config-file="$1/.clang-tidy" >"$build.log" 2>&1 && exit
grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' "$build.log"
exit 1
