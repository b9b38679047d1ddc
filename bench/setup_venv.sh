#!/bin/sh
# Makes the bench's own virtual environment: the numerical tools it cannot do without, then each peer by itself, so that
# a peer that cannot be had here costs its column and nothing else. Usage: bench/setup_venv.sh (BENCH_VENV, BENCH_PEERS).
# SPDX-License-Identifier: Apache-2.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${BENCH_VENV:-$here/../.venv-bench}
wanted=$here/peers.txt
stamp=$venv/.peers.done

if [ -f "$stamp" ] && cmp -s "$wanted" "$stamp"; then exit 0; fi
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
pip="$venv/bin/python -m pip --disable-pip-version-check -q"

rm -f "$venv/missing.txt"
grep -v '^#' "$wanted" | while read -r kind package note; do
  [ -n "$kind" ] || continue
  case " ${BENCH_PEERS:-all} " in *" all "*|*" ${package%%=*} "*) ;; *) [ "$kind" = base ] || continue ;; esac
  echo "bench: installing $package ${note:+($note)}" >&2
  if $pip install "$package" >"$venv/pip.log" 2>&1; then continue; fi
  [ "$kind" = peer ] || { cat "$venv/pip.log" >&2; exit 1; }
  echo "$package: $(grep -m1 ERROR "$venv/pip.log" || echo 'pip failed')" | tee -a "$venv/missing.txt" >&2
done
cp "$wanted" "$stamp"
