#!/bin/bash
# test_exporters.sh BUILD [check.py's arguments] -- exports models from PyTorch and Keras, compiles each and compares with onnxruntime.
# The frameworks go into two virtual environments under BUILD-exporters (several GB: PyTorch's wheel brings its GPU libraries; give
# PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS for a smaller one). SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
shift
arguments=()
command -v ccache >/dev/null && arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
folder=$build-exporters
tests=tests/exporters
mkdir -p "$folder"

venv() {  # venv NAME: made anew where the list of packages has changed
  local list=$tests/packages-$1.txt
  cmp -s "$list" "$folder/$1/.packages" && return
  "${PYTHON:-python3}" -m venv "$folder/$1"
  echo "test_exporters.sh: installing $(grep -v '^#' "$list" | tr '\n' ' ')" >&2
  "$folder/$1/bin/python" -m pip --disable-pip-version-check -q install -r "$list"
  cp "$list" "$folder/$1/.packages"
}

cases() {  # cases NAME: exported anew where the programs or packages have changed
  local stamp
  stamp=$(cat "$tests"/case.py "$tests/$1"_*.py "$tests/packages-$1.txt" | cksum)
  [ "$(cat "$folder/$1-cases/.stamp" 2>/dev/null)" = "$stamp" ] && return
  "$folder/$1/bin/python" -B "$tests/$1_models.py" "$folder/$1-cases" >"$folder/$1.log" 2>&1 || { tail -n 40 "$folder/$1.log"; exit 1; }
  echo "$stamp" >"$folder/$1-cases/.stamp"
}

venv torch
venv keras
log=$build-hosted.log
{ cmake --preset hosted -B "$build-hosted" "${arguments[@]}" && cmake --build "$build-hosted" --target rnnpack_tool -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
cases torch
cases keras
exec "$folder/torch/bin/python" -B "$tests/check.py" --tool "$build-hosted/src/compiler/rnnpack" --refused "$tests/refused.txt" \
  --table "$folder/table.md" "$@" "$folder/torch-cases" "$folder/keras-cases"
