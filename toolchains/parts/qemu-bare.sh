#!/bin/sh
# qemu-bare.sh <qemu> <arguments...> -kernel <image>: runs a bare-metal image; its exit status is the image's.
# The emulator must not read the terminal; -icount makes time count instructions, so every run is the same.
# RNNPACK_QEMU_PLUGIN, when set, is passed on as -plugin (firmware/count/count_instructions.py uses it).
# SPDX-License-Identifier: Apache-2.0
set -eu
qemu=$1
shift
exec "$qemu" -icount shift=0 -semihosting-config enable=on,target=native -display none -monitor none -serial none \
  ${RNNPACK_QEMU_PLUGIN:+-plugin "$RNNPACK_QEMU_PLUGIN"} "$@" </dev/null
