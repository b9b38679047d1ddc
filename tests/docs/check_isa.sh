#!/bin/sh
# check_isa.sh CXX NM SOURCE ROW FLAGS... -- a build that gives the kernels nothing but the target's flags has the kernels of that
# target's instructions, ROW among them, unless RNNPACK_REFERENCE_KERNELS says that they are to be left out.
# SPDX-License-Identifier: Apache-2.0
set -eu
cxx=$1 nm=$2 source=$3 row=$4
shift 4
object=$(mktemp)
trap 'rm -f "$object"' EXIT
rows() { "$cxx" -std=c++17 -I"$source/include" -I"$source/src" "$@" -c "$source/src/kernels/kernel_list.cpp" -o "$object" && "$nm" -u "$object"; }
rows "$@" | grep -q "$row" || { echo "without kernel $row"; exit 1; }
if rows "$@" -DRNNPACK_REFERENCE_KERNELS=1 | grep -q "$row"; then echo "with kernel $row although left out"; exit 1; fi
case $("$cxx" -dumpmachine) in
  x86_64*) # plain x86 has no vectors that we have kernels for: the compiler says what to do
    if said=$(rows 2>&1); then echo "compiled without a word"; exit 1; fi
    echo "$said" | grep -q -- '-mavx2.*RNNPACK_REFERENCE_KERNELS' || { echo "$said"; exit 1; } ;;
esac
