#!/bin/bash
# run.sh [build folder]: instructions and estimated cycles of the device kernels without the devices: whole steps counted under QEMU,
# inner loops modelled by llvm-mca, steps of 16-bit weights counted by half_count.sh. Needs gcc-aarch64-linux-gnu, gcc-arm-none-eabi,
# picolibc-arm-none-eabi, qemu-system-arm, clang-19, llvm-19, and what half_count.sh needs. What it prints is
# bench/results/device_kernels.md.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build-static}
mkdir -p "$out"
common="-std=c++17 -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno -Iinclude -Isrc"

compile() {  # <object> <source> <compiler and flags...>
  local object=$1 source=$2
  shift 2
  $(command -v ccache) "$@" $common -c "$source" -o "$out/$object.o"
}
# step_count <cpu> <board> <picoseconds of a SysTick tick> <flags>: links and runs the counting program.
step_count() {
  local cpu=$1 board=$2 tick=$3
  shift 3
  local flags="--specs=picolibc.specs -mthumb -mcpu=$cpu -mfloat-abi=hard $*" objects=""
  for source in src/kernels/recur_ref.cpp src/kernels/{recur,panel}_vfpv4.cpp $([ "$cpu" != cortex-m55 ] || ls src/kernels/{recur,panel}_mve.cpp) bench/static/step_count.cpp; do
    compile "$cpu-$(basename "$source" .cpp)" "$source" arm-none-eabi-g++ $flags -O2 -DRNNPACK_HAVE_VFPV4=1 -DRNNPACK_TICK_PS="$tick"
    objects="$objects $out/$cpu-$(basename "$source" .cpp).o"
  done
  arm-none-eabi-gcc $flags --oslib=semihost --crt0=semihost -Wl,--gc-sections -Wl,--defsym=__flash=0,--defsym=__flash_size=0x80000 \
    -Wl,--defsym=__ram=0x20000000,--defsym=__ram_size=0x80000,--defsym=__stack_size=0x2000 -T picolibc.ld $objects -o "$out/$cpu.elf"
  # What the image prints by semihosting comes out on the emulator's stderr.
  qemu-system-arm -M "$board" -icount shift=0 -semihosting-config enable=on,target=native -display none -monitor none -serial none \
    -kernel "$out/$cpu.elf" </dev/null 2>&1 | sed "s/^/| $cpu | /"
}

echo "| CPU | kernel | layer | I = H | instructions of a step | multiply-adds | per multiply-add |"
echo "|---|---|---|---|---|---|---|"
step_count cortex-m4 mps2-an386 40000 -mfpu=fpv4-sp-d16
step_count cortex-m7 mps2-an500 40000 -mfpu=fpv5-d16
step_count cortex-m55 mps3-an547 31250 -DRNNPACK_HAVE_MVE=1
echo

for file in recur gemm; do
  compile ${file}_neon src/kernels/${file}_neon.cpp aarch64-linux-gnu-g++ -O3 -DRNNPACK_HAVE_NEON=1
  compile ${file}_rvv src/kernels/${file}_rvv.cpp clang++-19 --target=riscv64-linux-gnu -march=rv64gcv -mno-relax -O3 -mllvm -enable-misched=false -DRNNPACK_HAVE_RVV=1
done
cp "$out/cortex-m4-panel_vfpv4.o" "$out/panel_vfpv4.o"
cp "$out/cortex-m55-panel_mve.o" "$out/panel_mve.o"
cp "$out/cortex-m55-recur_mve.o" "$out/recur_mve.o"
python3 bench/static/loops.py "$out"
echo
bench/static/half_count.sh "$out"
