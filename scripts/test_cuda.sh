#!/bin/bash
# test_cuda.sh BUILD test|bench -- builds the CUDA library for GPUs and runs its tests, or its benchmark, on this machine's. Ends with
# 77 where there is no nvcc, or no GPU: then nothing was built. CUDAARCHS names another architecture than the GPU's. What an exchange of h costs comes first, by words and by a barrier. The
# benchmark writes bench/results/gpu_tables.md. The compiler's sanitizer runs beside the tests where it is installed.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 what=$2
if ! nvcc=$(scripts/find_nvcc.sh); then
  echo "no nvcc: nothing was built and nothing was run (docs/CUDA.md says where it comes from)"
  exit 77
fi
architecture=${CUDAARCHS:-$(scripts/gpu_architecture.sh "$nvcc" || true)}
[ -n "$architecture" ] || { echo "no GPU: nothing was built and nothing was run"; exit 77; }
cmake -S . -B "$build" -DRNNPACK_TESTS=ON -DRNNPACK_BENCH=ON -DRNNPACK_CUDA=ON -DCMAKE_CUDA_COMPILER="$nvcc" \
  -DRNNPACK_CUDA_ARCHITECTURES="$architecture" -DCMAKE_BUILD_TYPE=Release >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" -j "$(nproc)" --target gpu_programs jetson_program >>"$build.log" 2>&1 || { tail -50 "$build.log"; exit 1; }
"$build/tests/cuda/has_gpu" || exit $?
if [ "$what" = bench ]; then
  results=bench/results/gpu_tables.md
  {
    echo "# Results on a GPU"
    echo
    echo "Written by \`make bench-cuda\` ($(date -u +%Y-%m-%d), $(git rev-parse --short HEAD 2>/dev/null || echo "no commit"))."
    echo
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv,noheader 2>/dev/null || true
    "$build/tests/cuda/has_gpu"
    printf '\n## Exchange\n\n'
    "$build/bench/cuda/gpu_check"
    printf '\n## Phases of a step\n\n'
    "$build/bench/cuda/phase_times"
    printf '\n## Layers\n\n'
    if [ -x "$build/bench/cuda/bench_cudnn" ]; then "$build/bench/cuda/bench_cudnn"; else "$build/bench/cuda/bench_cuda"; fi
    printf '\n## PyTorch and FlashRNN\n\n'
    python3 bench/cuda/torch_peer.py || [ $? = 77 ]
  } | tee "$results.new"
  mv "$results.new" "$results"
  exit 0
fi
"$build/bench/cuda/gpu_check"
"$build/tests/cuda/cuda_gpu_test" --gtest_brief=1
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/tests/cuda/cuda_gpu_test" --gtest_brief=1 --gtest_filter='*BothKernels*'
  done
else
  echo "no compute-sanitizer: memcheck, racecheck and synccheck were not run"
fi
