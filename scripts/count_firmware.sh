#!/bin/bash
# count_firmware.sh BUILD TARGET MODEL [option of rnnpack compile...] -- compiles a model into a firmware image for an emulated board and
# prints flash, RAM, stack and instructions of a step. BUILD is `make build`'s folder; TARGET is cortex-m4f, cortex-m7, ..., riscv32imc, or a
# name of toolchains/. The board's library is built in build-TARGET. SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
build=$1 target=$2 model=$3
shift 3
for name in "$target" "arm-none-eabi-$target" "$target-unknown-elf"; do
  [ -f "toolchains/$name.cmake" ] && grep -q RNNPACK_BOARD_SOURCE "toolchains/$name.cmake" && toolchain=$name && break
done
if [ -z "${toolchain:-}" ]; then
  boards=$(grep -l RNNPACK_BOARD_SOURCE toolchains/*.cmake | sed -E 's|toolchains/(arm-none-eabi-)?||; s|(-unknown-elf)?\.cmake||' | tr '\n' ' ')
  echo "count_firmware.sh: no emulated board is called '$target'; there are: $boards" >&2
  exit 2
fi
folder=build-$toolchain log=build-$toolchain-count.log
{
  cmake --preset "$toolchain" -B "$folder" -DRNNPACK_FIRMWARE=ON -DRNNPACK_HOST_TOOLS_READY=ON -DRNNPACK_HOST_TOOLS_DIR="$(realpath "$build")" &&
    cmake --build "$folder" --target rnnpack
} >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
firmware/count/count_model.py "$folder" "$build" "$model" "$@"
