#!/bin/bash
# fuzz_onnx.sh BUILD [fuzz.py's arguments] -- builds the driver in the hosted stage's folder and runs fuzz.py; a thousand models where
# nothing else is said. SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
shift
arguments=()
command -v ccache >/dev/null && arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
tests/onnx_fuzz/setup_venv.sh "$build-onnx-fuzz-venv"
log=$build-hosted.log
{ cmake --preset hosted -B "$build-hosted" "${arguments[@]}" && cmake --build "$build-hosted" --target onnx_fuzz_driver -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
exec "$build-onnx-fuzz-venv/bin/python" -B tests/onnx_fuzz/fuzz.py --driver "$build-hosted/tests/onnx_fuzz/onnx_fuzz_driver" "$@"
