#!/bin/sh
# run.sh [SCRIPT.py] [arguments of it, or of fuzz.py] -- as a test: with the Python that scripts/test.sh has set up; 77 (skipped)
# where there is none.
# SPDX-License-Identifier: Apache-2.0
python=${RNNPACK_ONNX_FUZZ_PYTHON:-}
if [ -z "$python" ] || ! "$python" -c 'import onnx, onnxruntime' 2>/dev/null; then
  echo "skipped: RNNPACK_ONNX_FUZZ_PYTHON is no Python with onnxruntime (tests/onnx_fuzz/setup_venv.sh makes one)"
  exit 77
fi
script=fuzz.py
case ${1:-} in *.py) script=$1; shift ;; esac
exec "$python" -B "$(dirname "$0")/$script" "$@"
