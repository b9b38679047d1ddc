#!/bin/sh
# build.sh BUILD -- rnnpack.jar in BUILD/java: classes of Java 8 and, under native/<system>-<arch>, the JNI library with librnnpack.a of
# BUILD in it. JAVA_HOME says which JDK. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
out=$1/java
java=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
folder=$out/classes/native/linux-$(uname -m)
rm -rf "$out/classes"
mkdir -p "$folder"
cmake --build "$1" --target src/librnnpack.a >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log"; exit 1; }
${CC:-cc} -std=c99 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -shared -I"$root/include" -I"$java/include" -I"$java/include/linux" \
  "$here/src/main/c/rnnpack_jni.c" "$here/src/main/c/compiler_jni.c" "$1/src/librnnpack.a" -Wl,--gc-sections -Wl,-z,defs -ldl -o "$folder/librnnpack_jni.so"
"$java/bin/javac" --release 8 -Xlint:all,-options -Werror -d "$out/classes" "$here"/src/main/java/org/rnnpack/*.java
"$java/bin/jar" --create --file "$out/rnnpack.jar" -C "$out/classes" .
