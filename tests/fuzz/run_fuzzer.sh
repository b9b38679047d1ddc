#!/bin/sh
# run_fuzzer.sh TARGET SEEDS -- 20,000 executions, or as many as FUZZ_SECONDS take, in a scratch corpus; the seeds stay as they are.
# The random numbers are the same each time (FUZZ_SEED, 0 for others), and so is their count without FUZZ_SECONDS: a slow and a fast
# machine try the same inputs. SPDX-License-Identifier: Apache-2.0
set -eu
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
if [ -n "${FUZZ_SECONDS:-}" ]; then budget=-max_total_time=$FUZZ_SECONDS; else budget=-runs=20000; fi
"$1" "$budget" -seed="${FUZZ_SEED:-1}" -max_len=65536 -rss_limit_mb=2048 -timeout=60 -artifact_prefix="$(dirname "$2")/crash-" -entropic=0 -len_control=0 -print_final_stats=1 "$corpus" "$2" 2>"$corpus.log" ||
  { tail -n 60 "$corpus.log"; rm -f "$corpus.log"; exit 1; }
grep -E "stat::number_of_executed_units|DONE" "$corpus.log" || true
rm -f "$corpus.log"
