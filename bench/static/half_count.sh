#!/bin/bash
# half_count.sh [build folder]: instructions per multiply-add of a whole step of an LSTM of f16 and bf16 weights, by the plain gemm
# rows and by those of the instruction set, on emulated CPUs. Needs g++-arm-linux-gnueabihf, g++-riscv64-linux-gnu, clang-19, lld-19,
# qemu-user-static. What it prints is in bench/results/device_kernels.md. SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build-static}
mkdir -p "$out"
common="-std=c++17 -O2 -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno
  -Iinclude -Isrc"

# The plain rows have no flags of an instruction set.
build() {  # <program> <compiler> <flags of the set> <its files...>
  local program=$1 compiler=$2 flags=$3
  shift 3
  $compiler $common -c src/kernels/gemm_ref.cpp -o "$out/half_count_ref.o"
  $compiler $flags $common bench/static/half_count.cpp "$@" "$out/half_count_ref.o" -o "$out/$program"
}

# Two steps less one: what comes before the steps is the same. The emulator says of every instruction that it runs it.
lines() {
  QEMU_CPU=$2 "$1" -singlestep -d exec,nochain "$3" "$4" "$5" 2>&1 | grep -c '^Trace'
}
count() {  # <emulator> <CPU> <program> <gemm rows...>
  local emulator=$1 cpu=$2 program=$3 row
  shift 3
  for row in "$@"; do
    python3 -c 'import sys; n = int(sys.argv[4]) - int(sys.argv[3]); print(f"| {sys.argv[1]} | {sys.argv[2]} | {n} | {n / 32768:.3f} |")' \
      "$cpu" "$row" "$(lines "$emulator" "$cpu" "$program" "$row" 1)" "$(lines "$emulator" "$cpu" "$program" "$row" 2)"
  done
}

echo "| CPU | gemm row | instructions of a step | per multiply-add |"
echo "|---|---|--:|--:|"
build half_count_armv7 "arm-linux-gnueabihf-g++ -Wno-psabi -static" "-mfpu=neon-vfpv4 -DRNNPACK_HAVE_NEON=1" src/kernels/{gemm_half,block,recur}_neon.cpp
count qemu-arm-static cortex-a15 "$out/half_count_armv7" gemm_{f16,bf16}_nr8_ref gemm_{f16,bf16}_nr{8,16}_neon
build half_count_rvv "clang++-19 --target=riscv64-linux-gnu -static -fuse-ld=lld -Wno-unused-command-line-argument" \
  "-march=rv64gcv -mllvm -enable-misched=false -DRNNPACK_HAVE_RVV=1" src/kernels/{gemm_half,block,recur}_rvv.cpp
count qemu-riscv64-static rv64,v=true,vlen=256 "$out/half_count_rvv" gemm_{f16,bf16}_nr16_{ref,rvv}
