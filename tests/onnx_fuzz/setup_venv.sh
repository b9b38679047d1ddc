#!/bin/sh
# setup_venv.sh FOLDER -- the Python environment of fuzz.py, made once. SPDX-License-Identifier: Apache-2.0
set -eu
folder=$1
wanted=$(dirname "$0")/requirements.txt
if [ -f "$folder/.done" ] && cmp -s "$wanted" "$folder/.done"; then exit 0; fi
[ -x "$folder/bin/python" ] || "${PYTHON:-/usr/bin/python3}" -m venv "$folder"
"$folder/bin/python" -m pip --disable-pip-version-check -q install --only-binary=:all: -r "$wanted"
cp "$wanted" "$folder/.done"
