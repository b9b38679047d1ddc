#!/bin/bash
# bare_metal.sh <cortex-m4|cortex-m7|cortex-m55> <build folder> [GoogleTest arguments]: the kernel tests as a bare-metal image on a
# QEMU board. Needs gcc-arm-none-eabi, libstdc++-arm-none-eabi-picolibc, googletest, qemu-system-arm. Exits 0 when all tests pass.
# SPDX-License-Identifier: Apache-2.0
set -eu
cpu=$1 out=$2
shift 2
cd "$(dirname "$0")/../.."
mkdir -p "$out"
case $cpu in
  cortex-m4) flags="-mcpu=cortex-m4 -mfpu=fpv4-sp-d16" board=mps2-an386 flash=0 ram=0x20000000 ram_size=0x400000 ;;
  cortex-m7) flags="-mcpu=cortex-m7 -mfpu=fpv5-d16" board=mps2-an500 flash=0 ram=0x20000000 ram_size=0x400000 ;;
  # The image does not fit the memory at 0: it lies in DDR, and the two vectors of reset are put at 0 by the emulator.
  cortex-m55) flags="-mcpu=cortex-m55" board=mps3-an547 flash=0x60000000 ram=0x61000000 ram_size=0x8000000 ;;
  *) echo "unknown CPU $cpu" >&2; exit 2 ;;
esac
flags="--specs=picolibcpp.specs -Wno-psabi -mthumb -mfloat-abi=hard $flags"
googletest=/usr/src/googletest/googletest
compile="$flags -O2 -std=c++17 -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno -Iinclude -Isrc -I.
  -Itests -Itests/kernels -isystem $googletest/include -isystem $googletest -D_GNU_SOURCE"
for feature in POSIX_RE DEATH_TEST STREAM_REDIRECTION PTHREAD EXCEPTIONS RTTI; do compile="$compile -DGTEST_HAS_$feature=0"; done

objects=""
for source in src/kernels/*.cpp src/pack/*.cpp tests/kernels/*.cpp tests/support/{equations,tile_emulator}.cpp "$googletest"/src/gtest-all.cc "$googletest"/src/gtest_main.cc; do
  object=$out/$(basename "$source").o
  $(command -v ccache) arm-none-eabi-g++ $compile -c "$source" -o "$object"
  objects="$objects $object"
done
arm-none-eabi-g++ $flags --oslib=semihost --crt0=semihost -Wl,--gc-sections -Wl,--defsym=__flash=$flash,--defsym=__flash_size=0x400000 \
  -Wl,--defsym=__ram=$ram,--defsym=__ram_size=$ram_size,--defsym=__stack_size=0x10000 -T picolibcpp.ld $objects -o "$out/kernels_test.elf"
arm-none-eabi-objcopy -O binary "$out/kernels_test.elf" "$out/kernels_test.bin"
head -c 8 "$out/kernels_test.bin" >"$out/vectors.bin"

arguments="arg=kernels_test"
for argument in "$@"; do arguments="$arguments,arg=$argument"; done
exec qemu-system-arm -M $board $([ $flash = 0 ] || echo "-device loader,file=$out/vectors.bin,addr=0") \
  -semihosting-config enable=on,target=native,$arguments -display none -monitor none -serial none -kernel "$out/kernels_test.elf" </dev/null
