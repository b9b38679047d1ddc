#!/bin/bash
# run.sh [OUT] -- what a first session on a GPU runs: facts, the price of an exchange, the tests of the kernels' invariants and 20 repeats
# of those that a race would change, the compiler's sanitizers one at a time, the benchmark, PyTorch and FlashRNN where they are. Everything
# goes below OUT (default: out, beside this file), one file each and all in summary.txt. Nothing ends it but its 9 minutes: a program that
# fails, hangs or is missing is told, and the next one runs. Needs bash and coreutils. SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out}
limit=${RNNPACK_BUNDLE_SECONDS:-540}
mkdir -p "$out" || exit 1
summary=$out/summary.txt
: >"$summary"

# step NAME SECONDS COMMAND...: its output to OUT/NAME.txt, how it ended to the summary.
step() {
  local name=$1 seconds=$2 left=$((limit - SECONDS)) began=$SECONDS status
  shift 2
  [ "$seconds" -le "$left" ] || seconds=$left
  if [ "$seconds" -lt 3 ]; then
    echo "$name: not run, the time is up" | tee -a "$summary"
    return
  fi
  timeout --kill-after=5 "$seconds" "$@" >"$out/$name.txt" 2>&1
  status=$?
  case $status in
    0) result="done" ;;
    77) result="skipped: $(tail -n 1 "$out/$name.txt")" ;;
    124 | 137) result="ended after $seconds s, its time" ;;
    126 | 127) result="not there: $*" ;;
    *) result="FAILED ($status)" ;;
  esac
  echo "$name: $result ($((SECONDS - began)) s)" | tee -a "$summary"
}

facts() {
  uname -srm
  cat "$here/build.txt" 2>/dev/null
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv 2>&1
  command -v nvcc ncu compute-sanitizer python3
  "$here/has_gpu"
}
# A sanitizer that does not know the machine (a container, a virtual GPU) says so, and is no failure of the kernels.
sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return 77; }
  compute-sanitizer --tool "$1" --error-exitcode 1 "$here/cuda_gpu_test" --gtest_brief=1 \
    --gtest_filter="${2:-*BothKernels*/LstmF16:*BothKernels*/GruLinearF16:*BothKernels*/LstmF32:*BothKernels*/LstmI8}"
}
peers() {
  command -v python3 >/dev/null || { echo "no python3"; return 77; }
  python3 "$here/torch_peer.py"
}
export -f facts sanitize peers
export here
# cuDNN of a Python package, where there is one.
library=$(python3 -c 'import nvidia.cudnn as c; print(list(c.__path__)[0] + "/lib")' 2>/dev/null) || library=""
[ -z "$library" ] || export LD_LIBRARY_PATH=$library:${LD_LIBRARY_PATH:-}

tests=$here/cuda_gpu_test
step facts 20 bash -c facts
step exchange 30 "$here/gpu_check"
step exchange-again 30 "$here/gpu_check"
step phases 30 "$here/phase_times"
step kernels 60 "$tests" --gtest_brief=1 --gtest_filter='*BothKernels*-*Cluster*'
step tests 120 "$tests" --gtest_brief=1 --gtest_filter='-*Cluster*'
# Clusters apart: what ends one of them in an error ends its process.
step clusters 60 "$tests" --gtest_brief=1 --gtest_repeat=5 --gtest_filter='*Cluster*'
step repeats 60 "$tests" --gtest_brief=1 --gtest_repeat=20 --gtest_filter='*GivesTheSameBits*F16*:*GivesTheSameBits*F32*-*Cluster*'
for tool in memcheck synccheck racecheck; do step "$tool" 45 bash -c "sanitize $tool"; done
step memcheck-clusters 45 bash -c "sanitize memcheck '*BothKernels*Cluster'"
# The same rows with cuDNN and without: without it where its library is not there.
if [ -x "$here/bench_cudnn" ]; then step bench-cudnn 90 "$here/bench_cudnn" --no-cpu; fi
grep -q "^bench-cudnn: done" "$summary" || step bench 90 "$here/bench_cuda" --no-cpu
step peers 60 bash -c peers
echo "all in $out ($SECONDS s)" | tee -a "$summary"
! grep -q "FAILED" "$summary"
