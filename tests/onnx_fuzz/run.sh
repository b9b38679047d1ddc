#!/bin/sh
# run.sh [fuzz.py's arguments] -- as a test: with the Python that scripts/test.sh has set up; 77 (skipped) where there is none.
# SPDX-License-Identifier: Apache-2.0
python=${RNNPACK_ONNX_FUZZ_PYTHON:-}
if [ -z "$python" ] || ! "$python" -c 'import onnx, onnxruntime' 2>/dev/null; then
  echo "skipped: RNNPACK_ONNX_FUZZ_PYTHON is no Python with onnxruntime (tests/onnx_fuzz/setup_venv.sh makes one)"
  exit 77
fi
exec "$python" -B "$(dirname "$0")/fuzz.py" "$@"
