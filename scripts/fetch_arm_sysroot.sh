#!/bin/bash
# fetch_arm_sysroot.sh ARCH FOLDER [PACKAGE...] -- Debian's XNNPACK, pthreadpool and cpuinfo for ARCH (arm64 or armhf), or PACKAGEs, unpacked
# into FOLDER. Nothing is installed: the packages of two architectures cannot live side by side. Then configure with
#   --preset aarch64-linux-gnu -DRNNPACK_SYSROOT=FOLDER -DRNNPACK_XNNPACK=ON -DRNNPACK_PTHREADPOOL=ON -DRNNPACK_CPUINFO=ON
# SPDX-License-Identifier: Apache-2.0
set -eu
arch=$1
mkdir -p "$2/apt/lists/partial" "$2/apt/cache/archives/partial"
folder=$(cd "$2" && pwd)
touch "$folder/apt/status"
# A private view of the package lists, so that this machine's own are left as they are.
apt=(-o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status"
  -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root)
shift 2
packages=${*:-libxnnpack-dev libxnnpack0 libpthreadpool-dev libpthreadpool0 libcpuinfo-dev libcpuinfo0}
apt-get "${apt[@]}" -qq update || echo "some package lists are missing; going on with the others" >&2
cd "$folder/apt"
# shellcheck disable=SC2086
apt-get "${apt[@]}" -qq download $packages
for package in *.deb; do dpkg-deb -x "$package" "$folder"; done
rm -f ./*.deb
