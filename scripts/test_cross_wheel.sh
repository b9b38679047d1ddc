#!/bin/bash
# test_cross_wheel.sh LIBRARIES TARGET WHEEL SUITE PYTHON -- WHEEL and numpy's from PyPI in a folder, and the bindings' common suite on
# them: on AArch64 Debian's Python for arm64 under QEMU, on musl a Python made here (make_musl_python.sh). The tool that is in the wheel
# makes the blob that this machine's made. LIBRARIES keeps the Pythons, PYTHON has pip; SUITE: data of bindings/test_bindings.py.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libraries=$1 target=$2 wheel=$3 suite=$4 pip_python=$5
version=$(/usr/bin/python3 -c "import sys; print('%d.%d' % sys.version_info[:2])")
case $target in
  aarch64-linux-gnu)
    sysroot=$libraries/debian-arm64
    if [ ! -e "$sysroot/.done" ]; then
      "$here/fetch_arm_sysroot.sh" arm64 "$sysroot" "python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib" libc6 \
        zlib1g libexpat1 libffi8 libgcc-s1 libstdc++6 libbz2-1.0 liblzma5 libuuid1
      touch "$sysroot/.done"
    fi
    runner=(qemu-aarch64-static -L "$sysroot")
    python=$sysroot/usr/bin/python$version ;;
  x86_64-linux-musl)
    "$here/make_musl_python.sh" "$libraries" "$target" "$libraries/zig/tools"
    runner=(env)
    python=$libraries/python-$target/bin/python3 ;;
esac
platform=${wheel##*-none-} platform=${platform%.whl}
numpy=$(grep -E '^numpy==' "$here/../bindings/python/tests/requirements.txt") numpy_platform=$platform
# Later ones have relative relocations packed, which Debian's musl does not read.
[ "$target" != x86_64-linux-musl ] || numpy=numpy==2.0.2 numpy_platform=musllinux_1_1_x86_64
site=$libraries/site-$target folder=$libraries/suite-$target log=$libraries/suite-$target.log
rm -rf "$site" "$folder"
install() { "$pip_python" -m pip --disable-pip-version-check -q install --python-version "$version" --only-binary=:all: --target "$site" --upgrade --no-deps "$@"; }
install --platform "$numpy_platform" "$numpy"
install --platform "$platform" "$wheel"

# Nothing is timed under an emulator, and what only repeats runs a tenth as often there.
cp -r "$suite" "$folder"
sed -i '/^overhead /d; /^growth /s/count=10000/count=1000/' "$folder/suite.txt"
export PYTHONPATH=$site
if "${runner[@]}" "$site/rnnpack/_native/rnnpack" compile "$suite/vad.onnx" -o "$folder/made.rnnp" >"$log" 2>&1 && cmp "$suite/vad.rnnp" "$folder/made.rnnp" >>"$log" 2>&1
then echo "ok tool" >>"$log"; else echo "FAILED tool: another blob, or none" >>"$log"; fi
"${runner[@]}" "$python" -B "$here/../bindings/python/tests/suite.py" "$folder" >>"$log" 2>&1 || true
all=$(($(wc -l <"$folder/suite.txt") + 1)) passed=$(grep -c '^ok ' "$log" || true) absent=$(grep -c '^na ' "$log" || true)
grep -E '^(FAILED|na ) ' "$log" || true
echo "$target: $(sed -n 's/^version //p' "$log"), $(basename "$wheel"), $(wc -c <"$wheel") bytes: $passed cases passed of $all, $absent are not this language's"
[ $((passed + absent)) -eq "$all" ] || { tail -n 20 "$log"; exit 1; }
