#!/bin/sh
# code_size.sh ARCHIVE -- bytes of code and constants in the library, in all and per part.
# SPDX-License-Identifier: Apache-2.0
set -eu
size "$1" | awk '
  NR > 1 { code = $1; total += code
           if ($6 ~ /avx512/) part = "AVX-512 kernels"; else if ($6 ~ /avx2/) part = "AVX2 kernels"; else if ($6 ~ /_ref/) part = "reference kernels"
           else part = "runtime and operators"; parts[part] += code }
  END { printf "  code of the library        %d bytes:", total; n = 0
        for (p in parts) printf "%s %s %d", n++ ? "," : "", p, parts[p]; print "" }'
