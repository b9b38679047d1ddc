#!/bin/sh
# run_suite.sh BUILD SUITE -- the common suite by rnnpack.hpp. SPDX-License-Identifier: Apache-2.0
set -eu
cmake --build "$1" --target suite_cpp -j "${JOBS:-2}" >"$1/cpp.log" 2>&1 || { tail -n 40 "$1/cpp.log"; exit 1; }
exec "$1/bindings/c/suite_cpp" "$2"
