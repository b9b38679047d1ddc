#!/bin/sh
# check_isa.sh CXX SOURCE FLAGS... -- a build that leaves out the kernels of its target's instructions is stopped by the compiler, with
# what to do, unless it says that this is meant.
# SPDX-License-Identifier: Apache-2.0
set -eu
cxx=$1 source=$2
shift 2
compile() { "$cxx" -std=c++17 -fsyntax-only -I"$source/include" -I"$source/src" "$@" "$source/src/kernels/kernel_list.cpp" 2>&1; }
if said=$(compile "$@"); then echo "compiled without a word"; exit 1; fi
echo "$said" | grep -q 'define RNNPACK_HAVE_[A-Z0-9]*=1.*RNNPACK_REFERENCE_KERNELS' || { echo "$said"; exit 1; }
compile "$@" -DRNNPACK_REFERENCE_KERNELS=1
