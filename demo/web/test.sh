#!/bin/sh
# test.sh BUILD -- puts the page together and tests it in headless Chromium. SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
"$here/make_page.sh" "$build" "$build/web"
RNNPACK_WEB=$build/web RNNPACK_TOOL=$build/src/compiler/rnnpack exec node --test "$here"/tests/*.test.mjs
