#!/bin/sh
# install_packages.sh LIST... -- installs the Debian packages named in the lists that are not there yet. As root, or through sudo.
# SPDX-License-Identifier: Apache-2.0
set -eu
missing=""
for package in $(sed -e 's/#.*//' "$@"); do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install_packages.sh: not root and no sudo; install these and run again:$missing" >&2; exit 1; }
  as_root="sudo"
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
