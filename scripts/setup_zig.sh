#!/bin/sh
# setup_zig.sh FOLDER TARGET... -- `zig cc` from PyPI in an environment of its own, and in FOLDER/tools compilers by name for each
# target (toolchains/zig.cmake). SPDX-License-Identifier: Apache-2.0
set -eu
folder=$1
shift
version=0.17.1
if [ "$(cat "$folder/.done" 2>/dev/null)" != $version ]; then
  "${PYTHON:-/usr/bin/python3}" -m venv "$folder"
  "$folder/bin/python" -m pip --disable-pip-version-check -q install --only-binary=:all: ziglang==$version
  echo $version >"$folder/.done"
fi
zig=$("$folder/bin/python" -c "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).resolve().parent / 'zig')")
mkdir -p "$folder/tools"
# zig knows CPUs by -mcpu alone; the flags of isa.inc are GCC's and clang's.
tool() {  # tool NAME WORDS...
  name=$folder/tools/$1
  shift
  cat >"$name.new" <<END
#!/bin/sh
for word do
  shift
  case \$word in -march=armv8.2-a+*) word=-mcpu=generic+v8_2a+\${word#-march=armv8.2-a+} ;; esac
  set -- "\$@" "\$word"
done
exec "$zig" $* "\$@"
END
  chmod +x "$name.new"
  cmp -s "$name.new" "$name" && rm "$name.new" || mv "$name.new" "$name"
}
tool ar ar
tool ranlib ranlib
for target in "$@"; do
  tool "$target-cc" cc -target "$target"
  tool "$target-c++" cc -target "$target"  # without a C++ library, which the device library does not need
  tool "$target-libc++" c++ -target "$target"
done
