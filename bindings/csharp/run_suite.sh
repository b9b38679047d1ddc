#!/bin/sh
# run_suite.sh BUILD [SUITE] -- compiles the binding with mono's compiler into BUILD/csharp, packs it and runs the common suite under mono.
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1/csharp
"$here/pack.sh" "$1"
mcs -langversion:latest -warnaserror -optimize+ -r:"$out/Rnnpack.dll" -r:System.Core.dll -out:"$out/Suite.exe" "$here/tests/Suite.cs"
export LD_LIBRARY_PATH="$1/src/compiler"  # librnnpack_compiler
[ -z "${2:-}" ] || exec mono "$out/Suite.exe" "$2"
