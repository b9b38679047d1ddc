#!/bin/sh
# check_missing.sh SOURCE -- what a build lacks is named together, with the one line that installs it: for the project, and for the Python
# package. SPDX-License-Identifier: Apache-2.0
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
without="-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"
for folder in "$1" "$1/bindings/python"; do
  # shellcheck disable=SC2086
  if cmake -S "$folder" -B "$work/build" -DRNNPACK_COMPILER=ON $without >"$work/log" 2>&1; then echo "$folder: configured without CLI11"; exit 1; fi
  tr '\n' ' ' <"$work/log" | tr -s ' ' >"$work/line"
  for words in "CLI11, zlib" "On Debian: apt-get install libcli11-dev zlib1g-dev"; do
    grep -q "$words" "$work/line" || { echo "$folder: '$words' is not said:"; cat "$work/log"; exit 1; }
  done
  rm -rf "$work/build"
done
