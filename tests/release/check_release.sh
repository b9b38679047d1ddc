#!/bin/bash
# check_release.sh SOURCE FOLDER CC CONSUMER BLOB -- makes a release of the library's last commit in two folders: equal sums. Then unpacks
# its packages and runs a program on the static and on the shared library that they bring. SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$1 folder=$2 cc=$3 consumer=$4 blob=$5
rm -rf "$folder/one" "$folder/another" "$folder/root"
for tree in "$folder/one/tree" "$folder/another/longer/tree"; do
  git clone -q "$source" "$tree"
  (cd "$tree" && scripts/make_release.sh build dist library)
done
cmp "$folder/one/tree/dist/SHA256SUMS" "$folder/another/longer/tree/dist/SHA256SUMS"
dist=$folder/one/tree/dist root=$folder/root
(cd "$dist" && sha256sum -c SHA256SUMS)
[ "$(wc -l <"$dist/SHA256SUMS")" -eq 4 ] || { echo "not what a release of the library has"; exit 1; }
python3 - "$dist"/*.spdx.json <<'P'
import json, sys
bill = json.load(open(sys.argv[1]))
names = {package["name"] for package in bill["packages"]}
assert {"rnnpack", "protobuf", "onnx", "zlib", "CLI11", "nlohmann/json"} <= names, names
assert len(bill["files"]) == 3, bill["files"]
P
for package in "$dist"/*.deb; do dpkg-deb -x "$package" "$root"; done
export PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$(dirname "$(find "$root" -name rnnpack.pc)")
export PKG_CONFIG_LIBDIR
for kind in rnnpack-static rnnpack; do
  read -ra flags < <(pkg-config --cflags --libs "$kind")
  "$cc" "$consumer" -o "$folder/consumer_$kind" "${flags[@]}"
  LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_LIBDIR") "$folder/consumer_$kind" "$blob"
done
