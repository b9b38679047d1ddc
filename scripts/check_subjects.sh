#!/bin/sh
# check_subjects.sh [RANGE] -- commit subjects: at most 72 characters, and nothing that was meant to be rewritten (wip, fixup!, squash!).
# Without a range, those after the commit from which on this is checked. SPDX-License-Identifier: Apache-2.0
set -eu
first=6e024d5914669a8e7fb64c52d7eeab3b4bf9f813
range=${1:-}
if [ -z "$range" ]; then
  git rev-parse -q --verify "$first^{commit}" >/dev/null 2>&1 || { echo "check_subjects.sh: not in a clone with its history: nothing to check"; exit 0; }
  range=$first..HEAD
fi
git log --no-merges --format=%s "$range" | LC_ALL=C.UTF-8 awk '
  length($0) > 72 { print "subject over 72 characters: " $0; bad = 1 }
  tolower($0) ~ /^(wip|fixup!|squash!)/ || tolower($0) ~ /[^a-z]wip([^a-z]|$)/ { print "not a subject: " $0; bad = 1 }
  END { exit bad }'
