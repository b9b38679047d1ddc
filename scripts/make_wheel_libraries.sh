#!/bin/bash
# make_wheel_libraries.sh FOLDER TARGET TOOLS -- what the compiler in a wheel for another target is built on, in FOLDER/TARGET/usr:
# protobuf and zlib from Debian's sources by the compilers of TOOLS (setup_zig.sh), and the headers of Debian's packages for this machine
# that are the same everywhere: CLI11, nlohmann-json, onnx's messages, Python. SPDX-License-Identifier: Apache-2.0
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
target=$2
tools=$3
usr=$folder/$target/usr
[ ! -e "$usr/.done" ] || exit 0
here=$(cd "$(dirname "$0")" && pwd)
"$here/fetch_sources.sh" "$folder/sources" protobuf zlib
rm -rf "$usr"
mkdir -p "$usr/lib" "$usr/include"

build=$folder/$target/protobuf
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S "$folder/sources/protobuf" -B "$build" -G Ninja --toolchain "$here/../toolchains/zig.cmake" -DRNNPACK_ZIG_TARGET="$target" \
  -DRNNPACK_ZIG_FOLDER="$tools" -DRNNPACK_ZIG_LIBCXX=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-w -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
  -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF "${launcher[@]}" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target libprotobuf >>"$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 1; }
cp "$build/libprotobuf.a" "$usr/lib/"
(cd "$folder/sources/protobuf/src" && find google -name '*.h' -o -name '*.inc' | tar -c -T -) | tar -x -C "$usr/include"

mkdir -p "$folder/$target/zlib"
(cd "$folder/$target/zlib" && "$tools/$target-cc" -O2 -fPIC -D_LARGEFILE64_SOURCE -DHAVE_UNISTD_H -w -c "$folder/sources/zlib/"{adler32,compress,crc32,deflate,gzclose,gzlib,gzread,gzwrite,infback,inffast,inflate,inftrees,trees,uncompr,zutil}.c)
"$tools/ar" rc "$usr/lib/libz.a" "$folder/$target/zlib/"*.o
cp "$folder/sources/zlib/"{zlib,zconf}.h "$usr/include/"

# What is written for this machine's Python is right for each with 64-bit longs, in whose headers nothing else differs for abi3.
python=$(/usr/bin/python3 -c "import sys; print('python%d.%d' % sys.version_info[:2])")
{ dpkg -L libcli11-dev nlohmann-json3-dev libonnx-dev; find -L "/usr/include/$python" -type f; } | grep -E '^/usr/(include|share/cmake|lib/cmake)/' |
  while read -r path; do [ -d "$path" ] || echo "${path#/}"; done | sort -u | tar -c -h -C / -T - | tar -x -C "$folder/$target"
cp "/usr/include/$(gcc -print-multiarch)/$python/pyconfig.h" "$usr/include/$python/pyconfig.h"
touch "$usr/.done"
