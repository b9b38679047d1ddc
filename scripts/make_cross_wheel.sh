#!/bin/bash
# make_cross_wheel.sh FOLDER BUILD [TARGET...] -- the Python package as wheels for another CPU or C library, by `zig cc`, in FOLDER:
# x86_64-linux-musl (musllinux_1_2), aarch64-linux-gnu (manylinux_2_28, run under QEMU); all of them by default. They have what the wheel
# of make_wheel.sh has: library, compiler and tool. On each runs the common suite of the bindings (test_cross_wheel.sh), with the
# data that scripts/test_bindings.sh makes in BUILD. FOLDER-libraries has what is built once for a target, FOLDER-build-TARGET the rest.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
base=$1 build=$2
shift 2
[ $# -gt 0 ] || set -- x86_64-linux-musl aarch64-linux-gnu
venv=$base-venv
if [ ! -f "$venv/.done" ]; then
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/python" -m pip --disable-pip-version-check -q install --only-binary=:all: wheel==0.48.0 scikit-build-core==1.1.2
  touch "$venv/.done"
fi
mkdir -p "$base" "$base-libraries"
base=$(cd "$base" && pwd)
libraries=$base-libraries
launcher=()
command -v ccache >/dev/null && launcher=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache)

make_wheel() {  # make_wheel NAME ZIG-TARGET PLATFORM: the wheel's path in $wheel
  local zig=$2 usr=$libraries/$2/usr plain=$base-build-$1/plain settings=(--config-settings=build-dir="$base-build-$1") define
  "$here/setup_zig.sh" "$libraries/zig" "$zig"
  "$here/make_wheel_libraries.sh" "$libraries" "$zig" "$libraries/zig/tools"
  local defines=(CMAKE_TOOLCHAIN_FILE="$root/toolchains/zig.cmake" RNNPACK_ZIG_TARGET="$zig" RNNPACK_ZIG_FOLDER="$libraries/zig/tools" RNNPACK_ZIG_LIBCXX=ON
    CMAKE_FIND_ROOT_PATH="$libraries/$zig" CMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER CMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY
    CMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY CMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY Python3_INCLUDE_DIR="$(echo "$usr"/include/python3.*)"
    RNNPACK_PCH=OFF RNNPACK_PROTOBUF_IS_PIC=ON RNNPACK_ONNX_PROTO=onnx_messages Protobuf_PROTOC_EXECUTABLE=/usr/bin/protoc
    CMAKE_EXE_LINKER_FLAGS=-s CMAKE_SHARED_LINKER_FLAGS=-s CMAKE_MODULE_LINKER_FLAGS=-s)
  for define in "${defines[@]}" install.strip=false; do
    case $define in install.*) settings+=(--config-settings="$define") ;; *) settings+=(--config-settings=cmake.define."$define") ;; esac
  done
  rm -rf "$plain" "$base"/*_"${3#*_}".whl
  env "${launcher[@]}" "$venv/bin/python" -m pip --disable-pip-version-check -q wheel --no-build-isolation --no-deps "${settings[@]}" -w "$plain" "$root/bindings/python"
  wheel=$plain/$("$venv/bin/python" -m wheel tags --remove --platform-tag "$3" "$plain"/*.whl)
  mv "$wheel" "$base"
  wheel=$base/${wheel##*/}
  "$venv/bin/python" "$root/bindings/python/tests/check_wheel.py" "$wheel"
}

"$here/test_bindings.sh" "$build" c
passed=0 failed=0
for target in "$@"; do
  case $target in
    x86_64-linux-musl) make_wheel "$target" "$target" musllinux_1_2_x86_64 ;;
    aarch64-linux-gnu) make_wheel "$target" aarch64-linux-gnu.2.28 manylinux_2_28_aarch64 ;;
    *) echo "make_cross_wheel.sh: no target $target; there are: x86_64-linux-musl aarch64-linux-gnu" >&2; exit 1 ;;
  esac
  if "$here/test_cross_wheel.sh" "$libraries" "$target" "$wheel" "$build/suite" "$venv/bin/python"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed wheels passed, $failed failed"
[ "$failed" -eq 0 ]
