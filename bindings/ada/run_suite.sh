#!/bin/sh
# run_suite.sh BUILD SUITE -- the common suite in Ada: on this machine, and cross-compiled to AArch64 under QEMU, where memory and times
# say nothing. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1/ada
arm=aarch64-linux-gnu
flags="-q -gnat2012 -gnatwaIe -O2 -I$here"
mkdir -p "$out/native" "$out/$arm" "$out/data"
echo "version GNAT $(gnatmake --version | sed -n '1s/.* //p'), x86-64 and AArch64"
# shellcheck disable=SC2086
(cd "$out/native" && gnatmake $flags suite.adb -bargs -static -largs "$1/src/librnnpack.a" -lm)
"$out/native/suite" "$2"

launcher=""
command -v ccache >/dev/null && launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
# shellcheck disable=SC2086
cmake -S "$here/../.." -B "$1-$arm" -G Ninja $launcher --toolchain "$here/../../toolchains/$arm.cmake" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DRNNPACK_SHARED=OFF -DRNNPACK_INSTALL=OFF >"$out/$arm.log" 2>&1 || { cat "$out/$arm.log"; exit 1; }
cmake --build "$1-$arm" --target rnnpack -j "${JOBS:-2}" >"$out/$arm.log" 2>&1 || { tail -n 40 "$out/$arm.log"; exit 1; }
# shellcheck disable=SC2086
(cd "$out/$arm" && $arm-gnatmake-12 $flags suite.adb -bargs -static -largs "$1-$arm/src/librnnpack.a" -lm -static)
find "$2" -mindepth 1 -maxdepth 1 ! -name suite.txt -exec ln -sf {} "$out/data/" \;
grep -vE "^(growth|overhead) " "$2/suite.txt" >"$out/data/suite.txt"
qemu-aarch64-static "$out/$arm/suite" "$out/data" >"$out/$arm-suite.log" 2>&1 || { grep FAILED "$out/$arm-suite.log"; exit 1; }
