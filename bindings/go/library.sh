#!/bin/sh
# library.sh BUILD -- puts the headers and the archive of a build where the module wants them. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=$here/lib/$(go env GOOS)_$(go env GOARCH)
mkdir -p "$place" "$here/include/rnnpack"
cp "$1/src/librnnpack.a" "$place/"
cp "$here/../../include/rnnpack/rnnpack.h" "$here/../../include/rnnpack/compiler.h" "$here/include/rnnpack/"
