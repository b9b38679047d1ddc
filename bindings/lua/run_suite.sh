#!/bin/sh
# run_suite.sh BUILD SUITE -- the common suite in LuaJIT, on librnnpack.so of BUILD. SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")"
export RNNPACK_LIBRARY="$1/src/librnnpack.so"
exec luajit suite.lua "$2"
