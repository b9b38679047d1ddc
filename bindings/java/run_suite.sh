#!/bin/sh
# run_suite.sh BUILD [SUITE] -- builds rnnpack.jar and runs the common suite on it, before that with -Xcheck:jni, which complains of
# lost references and exceptions and costs memory: case growth does not count there. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1/java
java=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
"$here/build.sh" "$1"
mkdir -p "$out/test"
"$java/bin/javac" --release 8 -Xlint:all,-options,-try -Werror -cp "$out/rnnpack.jar" -d "$out/test" "$here/src/test/java/Suite.java"
[ -n "${2:-}" ] || exit 0
"$java/bin/java" -Xcheck:jni -Dorg.rnnpack.compiler="$1/src/compiler/librnnpack_compiler.so" -cp "$out/rnnpack.jar:$out/test" Suite "$2" >"$out/checked.log" 2>&1 || true
grep -q "^ok misuse.two_threads" "$out/checked.log" || { tail -n 40 "$out/checked.log"; exit 1; }
! grep -E "^(WARNING|FATAL).*JNI|^FAILED" "$out/checked.log" | grep -v "^FAILED growth" || exit 1
exec "$java/bin/java" -Xms64m -Xmx64m -XX:+AlwaysPreTouch -Dorg.rnnpack.compiler="$1/src/compiler/librnnpack_compiler.so" -cp "$out/rnnpack.jar:$out/test" Suite "$2"
