#!/bin/sh
# run_suite.sh BUILD [SUITE] -- makes the modules, tests the package (types by tsc, behaviour by node --test), tests the page of demo/web in
# headless Chromium and runs the common suite.
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/build.sh" "$1"
suite=${2:+$(cd "$2" && pwd)}
cd "$here"
tsc --noEmit --strict --target es2020 --lib es2020,dom --moduleResolution node tests/types.ts
node --expose-gc --test tests/*.test.mjs >"$1-js.log" 2>&1 || { cat "$1-js.log"; exit 1; }
../../demo/web/test.sh "$1" >"$1-web.log" 2>&1 || { cat "$1-web.log"; exit 1; }
[ -z "$suite" ] || exec node tests/suite.mjs "$suite"
