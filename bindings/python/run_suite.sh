#!/bin/sh
# run_suite.sh BUILD SUITE -- the Python package, installed from BUILD into an environment of its own, and the common suite. Its own
# tests are stage hosted's. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$1-python-venv
pip="$venv/bin/python -m pip --disable-pip-version-check -q install"
wanted=$(grep -E "^(numpy|scikit-build-core)==" "$here/tests/requirements.txt")
[ -x "$venv/bin/python" ] || "${PYTHON:-/usr/bin/python3}" -m venv "$venv"
# shellcheck disable=SC2086
$pip --only-binary=:all: $wanted
# shellcheck disable=SC2086
$pip --no-build-isolation --no-deps --no-index --config-settings=cmake.define.RNNPACK_PREBUILT="$1" "$here" >"$1-python.log" 2>&1 || { cat "$1-python.log"; exit 1; }
exec "$venv/bin/python" -B "$here/tests/suite.py" "$2"
