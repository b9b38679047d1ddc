#!/bin/bash
# make_musl_python.sh FOLDER TARGET TOOLS -- a CPython on musl in FOLDER/python-TARGET, for tests of wheels: nothing that Debian or PyPI has
# runs there. From Debian's sources of Python and libffi by the compilers of TOOLS (setup_zig.sh). Needs Debian's package musl to
# run. SPDX-License-Identifier: Apache-2.0
set -euo pipefail
folder=$(cd "$1" && pwd)
target=$2
tools=$3
prefix=$folder/python-$target
[ ! -e "$prefix/.done" ] || exit 0
here=$(cd "$(dirname "$0")" && pwd)
python=$(/usr/bin/python3 -c "import sys; print('python%d.%d' % sys.version_info[:2])")
jobs=${JOBS:-$(nproc)}
"$here/fetch_sources.sh" "$folder/sources" "$python" libffi
build=$folder/build-python-$target
rm -rf "$build" "$prefix"
mkdir -p "$prefix/lib" "$prefix/include" "$build"
export CC="$tools/$target-cc -dynamic" AR="$tools/ar" RANLIB="$tools/ranlib" CFLAGS="-fno-sanitize=undefined -Wno-date-time"
cp -r "$folder/sources/libffi" "$build/libffi"
(cd "$build/libffi" && ./configure -q --host="$target" --prefix="$prefix" --libdir="$prefix/lib" --disable-shared --with-pic --disable-docs --disable-exec-static-tramp --disable-multi-os-directory \
  && make -s -j "$jobs" && make -s install) >"$build/libffi.log" 2>&1 || { tail -n 30 "$build/libffi.log"; exit 1; }
# zig's musl is newer than Debian's loader, which has no preadv2. Extensions are named after musl, as those of PyPI's wheels.
cp -r "$folder/sources/$python" "$build/python"
sed -i 's/^ *x86_64-linux-gnu$/x86_64-linux-musl/' "$build/python/configure"
(cd "$build/python" && ./configure -q --prefix="$prefix" --without-ensurepip --disable-test-modules CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" \
  PKG_CONFIG=/bin/false ac_cv_func_preadv2=no ac_cv_func_pwritev2=no && make -s -j "$jobs" && make -s install) >"$build/python.log" 2>&1 || { tail -n 30 "$build/python.log"; exit 1; }
"$prefix/bin/python3" -c "import ctypes, struct, threading; ctypes.CDLL(None)"
rm -rf "$build"
touch "$prefix/.done"
