#!/bin/sh
# test_by_hand.sh BUILD [WORDS] -- what README and docs mark `# by hand:`, run in BUILD-by-hand as a newcomer runs it: the wheel, pip, the demos
# (tests/docs/by_hand.py). WORDS: only commands that have them. The last commit is tested, not what is uncommitted.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
exec /usr/bin/python3 -B tests/docs/by_hand.py . "$1-by-hand" --only "${2:-}"
