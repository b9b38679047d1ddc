#!/bin/bash
# make_cuda_bundle.sh BUILD [ARCHITECTURE] -- BUILD/rnnpack-cuda-bundle.tar.gz: what a first session on a GPU needs, and nothing of this
# machine: run.sh, the tests, the benchmark and the programs it calls, for one architecture (90-real; "native" asks this machine's GPU).
# glibc and a driver are all they want there: build.txt says which. At most 60 MB. Ends with 77 where there is no nvcc.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 architecture=${2:-90-real} most=$((60 * 1024 * 1024))
nvcc=$(scripts/find_nvcc.sh) || { echo "no nvcc: nothing was built (docs/CUDA.md says where it comes from)"; exit 77; }
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRNNPACK_TESTS=ON -DRNNPACK_BENCH=ON -DRNNPACK_CUDA=ON -DRNNPACK_SHARED=OFF \
  -DCMAKE_CUDA_COMPILER="$nvcc" -DRNNPACK_CUDA_ARCHITECTURES="$architecture" \
  -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc" >"$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 1; }
cmake --build "$build" --target gpu_programs >>"$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 1; }
bundle=$build/rnnpack-cuda-bundle
rm -rf "$bundle"
mkdir "$bundle"
for program in tests/cuda/has_gpu tests/cuda/cuda_gpu_test bench/cuda/gpu_check bench/cuda/phase_times bench/cuda/bench_cuda bench/cuda/bench_cudnn; do
  [ -x "$build/$program" ] || continue
  cp "$build/$program" "$bundle"
  strip "$bundle/${program##*/}"
done
cp bench/cuda/bundle_run.sh "$bundle/run.sh"
cp bench/cuda/torch_peer.py "$bundle"
glibc=$(objdump -T "$bundle"/* 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 || true)
echo "rnnpack $(git describe --always --dirty 2>/dev/null || echo "no commit"), $architecture, nvcc $("$nvcc" --version | sed -n 's/.*release //p')," \
  "needs ${glibc:-glibc} and a driver of that CUDA" >"$bundle/build.txt"
bytes=$(du -sb "$bundle" | cut -f1)
if [ "$bytes" -gt "$most" ]; then
  echo "$bundle has $bytes bytes, at most $most are allowed" >&2
  exit 1
fi
tar -C "$(dirname "$bundle")" -czf "$bundle.tar.gz" "$(basename "$bundle")"
echo "$bundle.tar.gz: $((bytes / 1024 / 1024)) MB unpacked, $(cat "$bundle/build.txt"). There: tar -xf, then $(basename "$bundle")/run.sh"
