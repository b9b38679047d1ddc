#!/bin/bash
# fetch_sources.sh FOLDER PACKAGE... -- Debian's original sources of PACKAGEs, unpacked into FOLDER/PACKAGE, once. Nothing is installed and
# this machine's package lists are left as they are. SPDX-License-Identifier: Apache-2.0
set -euo pipefail
mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial"
folder=$(cd "$1" && pwd)
shift
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
touch "$folder/apt/status"
echo "deb-src ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite main" >"$folder/apt/sources"
apt=(-o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt/cache"
  -o Dir::Etc::sourcelist="$folder/apt/sources" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root)
for package in "$@"; do
  [ ! -e "$folder/$package/.done" ] || continue
  [ -n "${updated:-}" ] || apt-get "${apt[@]}" -qq update
  updated=1
  rm -rf "${folder:?}/$package"
  mkdir -p "$folder/$package/archives"
  (cd "$folder/$package/archives" && apt-get "${apt[@]}" -qq source --download-only "$package")
  tar -x -f "$folder/$package/archives/"*.orig.tar.* -C "$folder/$package" --strip-components=1
  touch "$folder/$package/.done"
done
