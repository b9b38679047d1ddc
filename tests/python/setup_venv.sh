#!/bin/sh
# setup_venv.sh FOLDER -- the Python environment of the package's tests, made once. torch is large, so
# RNNPACK_TEST_TORCH=1 asks for it; its tests say that they were left out. SPDX-License-Identifier: Apache-2.0
set -eu
folder=$1
wanted=$(cd "$(dirname "$0")/../../bindings/python/tests" && pwd)
if [ ! -f "$folder/.done" ] || ! cmp -s "$wanted/requirements.txt" "$folder/.done"; then
  [ -x "$folder/bin/python" ] || "${PYTHON:-/usr/bin/python3}" -m venv "$folder"
  "$folder/bin/python" -m pip --disable-pip-version-check -q install --only-binary=:all: -r "$wanted/requirements.txt"
  cp "$wanted/requirements.txt" "$folder/.done"
fi
[ "${RNNPACK_TEST_TORCH:-0}" != 0 ] || exit 0
if [ ! -f "$folder/.torch" ] || ! cmp -s "$wanted/requirements-torch.txt" "$folder/.torch"; then
  timeout 900 "$folder/bin/python" -m pip --disable-pip-version-check -q install --only-binary=:all: -r "$wanted/requirements-torch.txt" || exit 0
  cp "$wanted/requirements-torch.txt" "$folder/.torch"
fi
