#!/bin/bash
# gpu_architecture.sh NVCC -- what this machine's GPU is to CMake, "87-real": CMake 3.22 (JetPack 6) knows no "native". Fails where
# there is no GPU. SPDX-License-Identifier: Apache-2.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/ask.cu" <<'EOF'
#include <cstdio>
int main() {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return 1;
  std::printf("%d%d-real\n", major, minor);
}
EOF
"$1" -o "$folder/ask" "$folder/ask.cu" >&2
"$folder/ask"
