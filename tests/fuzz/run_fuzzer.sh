#!/bin/sh
# run_fuzzer.sh TARGET SEEDS -- fuzzes for FUZZ_SECONDS (default 20) in a scratch corpus; the seeds stay as they are. The walk is
# the same each time (FUZZ_SEED, 0 for another one), so that a test passes or fails for what changed.
# SPDX-License-Identifier: Apache-2.0
set -eu
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
"$1" -seed="${FUZZ_SEED:-1}" -max_total_time="${FUZZ_SECONDS:-20}" -max_len=65536 -rss_limit_mb=2048 -timeout=25 -artifact_prefix="$(dirname "$2")/crash-" -entropic=0 -len_control=0 -print_final_stats=1 "$corpus" "$2" 2>"$corpus.log" ||
  { tail -n 60 "$corpus.log"; rm -f "$corpus.log"; exit 1; }
grep -E "stat::number_of_executed_units|DONE" "$corpus.log" || true
rm -f "$corpus.log"
