#!/bin/bash
# test_devices.sh [TARGET...] -- builds and tests every target of toolchains/ under its emulator; firmware images included. Without
# arguments all of them. Installs what is missing (scripts/packages-devices.txt) unless RNNPACK_NO_INSTALL is set.
# RNNPACK_HOST_TOOLS_DIR: a build folder that has the building machine's programs already (-DRNNPACK_HOST_TOOLS=ON -DRNNPACK_COMPILER=ON).
# Build folders are build-<target>; a target's log is build-<target>.log. Exit status: how many targets failed.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/.." || exit 1
host_tools=${RNNPACK_HOST_TOOLS_DIR:-$PWD/build-host-tools}

LINUX="aarch64-linux-gnu arm-linux-gnueabihf riscv64-linux-gnu s390x-linux-gnu i386-linux-gnu"
FIRMWARE="arm-none-eabi-cortex-m0plus arm-none-eabi-cortex-m3 arm-none-eabi-cortex-m4f arm-none-eabi-cortex-m7 arm-none-eabi-cortex-m55 riscv32-unknown-elf riscv32imc-unknown-elf"
OTHERS="arm-none-eabi-cortex-m33 riscv64-unknown-elf wasm32-wasi x86_64-w64-mingw32 x86_64-linux-musl"

# CPUs beyond the emulator's default, as QEMU_CPU: those of src/base/isa.inc, and some that lack the vector instructions.
cpus_of() {
  case $1 in
    arm-linux-gnueabihf) echo cortex-a9 ;;
    riscv64-linux-gnu) echo rv64 ;;
  esac
  grep '^RNNPACK_ISA(' src/base/isa.inc | cut -d'"' -f6 | sed 's/ | /\n/g' | sed -n "s/^$1 //p"
}

# build TARGET FOLDER cmake-arguments...
build() {
  local target=$1 folder=$2 launcher=()
  shift 2
  command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake --preset "$target" -B "$folder" "${launcher[@]}" -DRNNPACK_HOST_TOOLS_READY=ON \
    -DRNNPACK_HOST_TOOLS_DIR="$host_tools" "$@" && cmake --build "$folder"
}

# What cross builds run on this machine: the compiler, and the generators of test cases and of the images' data.
build_host_tools() {
  cmake -S . -B build-host-tools -G Ninja -DCMAKE_BUILD_TYPE=Release -DRNNPACK_HOST_TOOLS=ON -DRNNPACK_COMPILER=ON && cmake --build build-host-tools
}

# The device test and the kernels' tests once more on every other CPU, but for the long walks over an activation's range, whose
# instructions are the same there.
other_cpus() {
  local target=$1 cpu
  for cpu in $(cpus_of "$target"); do
    QEMU_CPU=$cpu ctest --test-dir "build-$target" -R '^device\.' --output-on-failure || return 1
    QEMU_CPU=$cpu ctest --test-dir "build-$target" -j "$(nproc)" -R '^(KernelList|All/(Gemm|ByteGemm|BlockGemm|Recur|Act))' -E Ulps --output-on-failure || return 1
  done
}

# Once more with Debian's XNNPACK, pthreadpool and cpuinfo for that CPU, which come into a folder of their own.
with_libraries() {
  local target=$1 arch
  case $target in
    aarch64-linux-gnu) arch=arm64 ;;
    arm-linux-gnueabihf) arch=armhf ;;
    *) return 0 ;;
  esac
  if [ ! -d "build-sysroot-$arch/usr" ]; then
    [ -z "${RNNPACK_NO_INSTALL:-}" ] || { echo "left out: XNNPACK for $target, whose packages are not there"; return 0; }
    scripts/fetch_arm_sysroot.sh $arch "build-sysroot-$arch" || return 1
  fi
  build "$target" "build-$target-xnnpack" -DRNNPACK_SYSROOT="$PWD/build-sysroot-$arch" -DRNNPACK_XNNPACK=ON -DRNNPACK_PTHREADPOOL=ON \
    -DRNNPACK_CPUINFO=ON && ctest --test-dir "build-$target-xnnpack" -j "$(nproc)" -R '^(hosted|api|device)\.' --output-on-failure
}

# Its build has no C++ library: the kernels' tests are compiled beside it, and run by node.
kernels_in_node() {
  [ "$1" != wasm32-wasi ] || tests/kernels/wasm.sh "build-$1-kernels" --gtest_filter='-*NeverDecreasesFromOneFloatToTheNext*'
}

run_target() {
  local target=$1 again=1
  shift
  # Wine's server now and then drops a client that comes while it starts.
  case $target in *mingw*) again=2 ;; esac
  build "$target" "build-$target" "$@" && ctest --test-dir "build-$target" -j "$(nproc)" --repeat "until-pass:$again" --output-on-failure \
    --output-junit "$PWD/build-$target-device-ctest.xml" &&
    other_cpus "$target" && kernels_in_node "$target" && with_libraries "$target"
}

[ -n "${RNNPACK_NO_INSTALL:-}" ] || scripts/install_packages.sh scripts/packages-build.txt scripts/packages-devices.txt || exit 1
[ -n "${RNNPACK_HOST_TOOLS_DIR:-}" ] || build_host_tools >build-host-tools.log 2>&1 || { cat build-host-tools.log; exit 1; }
failed=0
for target in ${*:-$LINUX $FIRMWARE $OTHERS}; do
  options=()
  case " $FIRMWARE " in *" $target "*) options=(-DRNNPACK_FIRMWARE=ON) ;; esac
  if run_target "$target" "${options[@]}" >"build-$target.log" 2>&1; then
    echo "ok      $target  $(grep -h 'tests passed' "build-$target.log" | head -1)"
  else
    echo "FAILED  $target  see build-$target.log"
    failed=$((failed + 1))
  fi
done
if [ $# -eq 0 ]; then
  python3 tests/device/compile_matrix.py "$host_tools/src/compiler/rnnpack" . --all >build-compile-matrix.log 2>&1 &&
    echo "ok      compile_matrix  $(tail -1 build-compile-matrix.log)" ||
    { echo "FAILED  compile_matrix  see build-compile-matrix.log"; failed=$((failed + 1)); }
fi
exit $failed
