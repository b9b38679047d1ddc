#!/bin/sh
# pack.sh BUILD -- Rnnpack.dll, librnnpack.so of BUILD beside it, and the .nupkg, in BUILD/csharp. `dotnet`, where it is installed, makes
# an assembly for every runtime of netstandard2.0. mono's compiler takes Span from mono's own class library: its assembly runs under mono
# alone, and its package is Rnnpack.VERSION-mono.nupkg. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1/csharp
case $(uname -m) in x86_64) rid=linux-x64 ;; aarch64) rid=linux-arm64 ;; *) rid=linux-$(uname -m) ;; esac
mkdir -p "$out"
cmake --build "$1" --target rnnpack_shared >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log"; exit 1; }
if command -v dotnet >/dev/null; then
  dotnet build "$here/Rnnpack.csproj" -c Release -o "$out" >"$out/dotnet.log" 2>&1 || { tail -n 40 "$out/dotnet.log"; exit 1; }
  cp "$1/src/librnnpack.so" "$out/"
  exec python3 "$here/pack.py" "$out" "$rid" "$here/README.md" ""
fi
mcs -unsafe -langversion:latest -warnaserror -optimize+ -target:library -out:"$out/Rnnpack.dll" "$here"/src/*.cs
cp "$1/src/librnnpack.so" "$out/"
exec python3 "$here/pack.py" "$out" "$rid" "$here/README.md" -mono
