#!/bin/bash
# find_nvcc.sh -- where nvcc is: CUDACXX, PATH, or the places of toolkits, which JetPack leaves out of PATH. Fails where there is none.
# SPDX-License-Identifier: Apache-2.0
set -u
for nvcc in "${CUDACXX:-}" "$(command -v nvcc)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc; do
  [ -n "$nvcc" ] && [ -x "$nvcc" ] && echo "$nvcc" && exit 0
done
exit 1
