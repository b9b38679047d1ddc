#!/bin/sh
# run.sh --install PACKAGE BUILD | TEST_FILE -- with the Python that scripts/test.sh has set up: installs the package from a build's
# tool and shared library, or runs one of its test files. 77 (skipped) where there is no such Python, or all of a file is skipped.
# SPDX-License-Identifier: Apache-2.0
set -u
python=${RNNPACK_PACKAGE_PYTHON:-}
if [ -z "$python" ] || ! "$python" -c 'import numpy, onnx, pytest' 2>/dev/null; then
  echo "skipped: RNNPACK_PACKAGE_PYTHON is no Python with what the tests need (tests/python/setup_venv.sh makes one)"
  exit 77
fi
if [ "$1" = --install ]; then
  exec "$python" -m pip --disable-pip-version-check install -q --no-build-isolation --no-deps --no-index \
    --config-settings=cmake.define.RNNPACK_PREBUILT="$3" "$2"
fi
folder=$(cd "$(dirname "$1")/.." && pwd)
said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$python" -B -m pytest -q -p no:cacheprovider -rs --rootdir "$folder" "$1" >"$said" 2>&1
code=$?
cat "$said"
if { [ "$code" -eq 0 ] || [ "$code" -eq 5 ]; } && ! grep -qE '[0-9]+ passed' "$said"; then
  grep -m1 '^SKIPPED' "$said" | sed 's/.*: //; s/^/skipped: /'
  exit 77
fi
exit "$code"
