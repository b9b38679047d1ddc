#!/bin/bash
# test.sh BUILD [STAGE...] -- builds each stage in a folder of its own and runs its tests. Without a stage: those of make test. `all`: make
# test, then the others of make test-all. Ends with one line that sums up every case of every stage; skipped ones, which passed nothing,
# are named and counted apart. Stages that are built are presets of CMakePresets.json: BUILD-hosted is what `cmake --preset hosted` makes.
# Cases labelled test-all cost minutes; make test leaves them out, and stage hosted-rest runs them. Those labelled by-hand run in that stage.
# RNNPACK_TEST_LEAVE_OUT: stages of `all` that are not run.
# RNNPACK_TEST_DEVICES: the targets of toolchains/ that stage devices builds and runs under their emulators; "all" for every one.
# SPDX-License-Identifier: Apache-2.0
set -u
build=$1
shift
stages=${*:-format hosted board}
[ "$stages" != all ] || stages="make-test hosted-rest freestanding asan tsan tidy devices bindings desktops by-hand"
for stage in ${RNNPACK_TEST_LEAVE_OUT:-}; do stages=" $stages " && stages=${stages/ $stage / }; done
jobs=${JOBS:-$(nproc)}
# What needs no package beside those of make test. aarch64-linux-gnu, RISC-V, WebAssembly and the others: see docs/DEVICES.md.
devices=${RNNPACK_TEST_DEVICES:-arm-none-eabi-cortex-m0plus arm-none-eabi-cortex-m55}
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
# Builds inside of tests compile the same files in other folders; precompiled headers are compared by what is in them.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
passed=0 failed=0 skipped=0 failures=""

fail() {
  failed=$((failed + 1))
  failures="$failures $1"
}

# configure_and_build STAGE
configure_and_build() {
  local folder=$build-$1 log=$build-$1.log
  echo "== $1: building"
  cmake --preset "$1" -B "$folder" "${launcher[@]}" >"$log" 2>&1 && cmake --build "$folder" -j "$jobs" >>"$log" 2>&1 && return
  tail -n 60 "$log"
  return 1
}

# count STAGE REPORT [SHARDS CASES]: adds a report's cases to the sums; what failed and what was skipped is named.
count() {
  local stage=$1 text counts
  shift
  text=$(scripts/count_tests.py "$@" 2>&1) || { echo "$text"; fail "$stage"; return 1; }
  echo "$text" | sed '1d'
  read -ra counts < <(echo "$text" | sed -n 1p)
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  [ "${counts[1]}" -eq 0 ] || { failures="$failures $stage"; return 1; }
}

cases_labelled() { ctest --test-dir "$build-$1" -N --label-regex "^$2\$" | sed -n 's/^Total Tests: //p'; }

# run_ctest STAGE ctest-arguments...: with --label-exclude sharded, what has that label must have run in shards.
run_ctest() {
  local stage=$1 log=$build-$1-ctest.log report=$PWD/$build-$1-ctest.xml shards=()
  shift
  echo "== $stage: testing"
  rm -rf "$report" "$build-$stage/shards"
  case "$*" in *sharded*)
    shards=("$build-$stage/shards" "$(cases_labelled "$stage" sharded)") ;;
  esac
  ctest --test-dir "$build-$stage" -j "$jobs" --timeout 900 --output-on-failure --no-tests=error --output-junit "$report" "$@" >"$log" 2>&1
  local status=$?
  grep -E "^( *[0-9]+% tests passed|Total Test time)" "$log"
  count "$stage" "$report" "${shards[@]}" && [ "$status" -eq 0 ] && return
  grep -vE "   Passed  |Start +[0-9]+:" "$log" | tail -n 80
  case "$failures " in *" $stage "*) ;; *) fail "$stage" ;; esac
}

stage_cmake() {  # stage_cmake STAGE ctest-arguments...
  if configure_and_build "$1"; then
    wait_for_python
    run_ctest "$@"
  else
    fail "$1"
  fi
}

stage_command() {  # stage_command STAGE command...
  local stage=$1
  shift
  echo "== $stage"
  if "$@"; then passed=$((passed + 1)); else fail "$stage"; fi
}

# What ends in a line like this script's own.
stage_counted() {  # stage_counted STAGE command...
  local stage=$1 log=$build-$1.log counts status
  shift
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
  read -ra counts <<<"${counts:-0 0 0}"
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  [ "$status" -eq 0 ] && return
  if [ "${counts[1]}" -gt 0 ]; then failures="$failures $stage"; else fail "$stage"; fi
}

# A command of a page is a case.
stage_by_hand() {
  if [ -d "$build-hosted" ] && [ "$(cases_labelled hosted by-hand)" != 0 ]; then run_ctest hosted --label-regex '^by-hand$'; fi
  local log=$build-by-hand.log bad
  echo "== by-hand"
  scripts/test_by_hand.sh "$build" 2>&1 | tee "$log"
  local status=${PIPESTATUS[0]}
  bad=$(grep -c '^FAILED  ' "$log")
  passed=$((passed + $(grep -c '^ok  ' "$log")))
  failed=$((failed + bad))
  [ "$status" -eq 0 ] && return
  if [ "$bad" -gt 0 ]; then failures="$failures by-hand"; else fail by-hand; fi
}

check_format() {
  git ls-files '*.h' '*.c' '*.cpp' | xargs clang-format --dry-run -Werror && scripts/check_subjects.sh
}

# Files of sets that this machine's compiler has no headers for.
other_isa_files() {
  sed -nE '/"x86 /d; s/^RNNPACK_ISA[A-Z_]*\((\w+),.*/\L\1/p' src/base/isa.inc | paste -sd'|'
}

# RNNPACK_TIDY_PARTS=N: one of N parts of all files, another with each commit.
check_tidy() {
  local part files
  part=$(git rev-list --count HEAD)/${RNNPACK_TIDY_PARTS:-1}
  cmake -S . -B "$build-tidy" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_C_COMPILER=clang >"$build-tidy.log" 2>&1 || { cat "$build-tidy.log"; return 1; }
  files=$(git ls-files 'src/*.cpp' 'platform/compiled/*.cpp' | grep -vE "src/(compiler|pack|cuda|ops/xnnpack)/|xnnpack\.cpp|_($(other_isa_files))\.cpp")
  scripts/one_part.sh "$part" <<<"$files" |
    xargs -P "$jobs" -n 4 clang-tidy --quiet -p "$build-tidy" >"$build-tidy.log" 2>&1 ||
    { grep -vE '^[0-9]+ warnings? (generated|treated)' "$build-tidy.log"; return 1; }
  JOBS=$jobs PART=$part scripts/tidy_host.sh "$build-tidy-host" src/compiler src/cuda src/pack &&
    JOBS=$jobs PART=$part scripts/tidy_host.sh "$build-tidy-host" tests
}

# The ONNX package's recurrent cases; without them the conformance test would run on nothing of it. onnxruntime for tests/onnx_fuzz.
case " $stages " in *" hosted "* | *" asan "*)
  cases=$PWD/$build-onnx-cases
  if scripts/fetch_onnx_cases.sh "$cases"; then export RNNPACK_ONNX_NODE_DIR=$cases; else fail onnx-cases; fi
  if tests/onnx_fuzz/setup_venv.sh "$PWD/$build-onnx-fuzz-venv"; then export RNNPACK_ONNX_FUZZ_PYTHON=$PWD/$build-onnx-fuzz-venv/bin/python; else fail onnx-fuzz-venv; fi ;;
esac

# The Python package's tests: made beside the first build, which takes longer.
python_venv=$PWD/$build-python-venv
python_setup=""
case " $stages " in *" hosted "*)
  tests/python/setup_venv.sh "$python_venv" >"$build-python-venv.log" 2>&1 &
  python_setup=$!
  export RNNPACK_PACKAGE_PYTHON=$python_venv/bin/python ;;
esac
wait_for_python() {
  [ -n "$python_setup" ] || return 0
  wait "$python_setup" || { cat "$build-python-venv.log"; fail python-venv; }
  python_setup=""
}

# stage_targets STAGE TARGET...: their data are made by the programs of stage hosted, where it has been built.
stage_targets() {
  local stage=$1 report
  shift
  [ ! -x "$build-hosted/firmware/tools/write_image_data" ] || export RNNPACK_HOST_TOOLS_DIR=$PWD/$build-hosted
  echo "== $stage"
  rm -f build-*-device-ctest.xml
  RNNPACK_NO_INSTALL=1 scripts/test_devices.sh "$@" || fail "$stage"
  for report in build-*-device-ctest.xml; do
    [ ! -e "$report" ] || count "$stage" "$report"
  done
}

# spent: the CPU seconds of all that has run, in $seconds; `times` knows only in this shell itself.
spent() {
  times >"$build-times"
  seconds=$(awk -F '[ms ]' 'NR == 2 { printf "%d", $1 * 60 + $2 + $4 * 60 + $5 }' "$build-times")
}

# Stage asan runs the fuzz targets too; fuzz is them alone, in the same build. Instructions are counted in stage hosted alone. Under
# TSan threads come from std::thread: Debian's pthreadpool is not instrumented, so TSan cannot see that it synchronises.
for stage in $stages; do
  spent
  before=$seconds began=$SECONDS
  case $stage in
    make-test) stage_counted make-test make --no-print-directory test BUILD="$build" ;;
    hosted) stage_cmake hosted --label-exclude '^(sharded|test-all|by-hand)$' ;;
    hosted-rest) [ "$(cases_labelled hosted test-all)" = 0 ] || run_ctest hosted --label-regex '^test-all$' ;;
    asan) stage_cmake asan --label-exclude '^sharded$' ;;
    freestanding) stage_cmake freestanding -E callgrind --label-exclude '^sharded$' ;;
    fuzz) stage_cmake asan -R '^fuzz' ;;
    tsan) stage_cmake tsan -R '(Thread|Bidirectional|Xnnpack|Walk|cuda\.Orders)' -E Pthreadpool ;;
    board) stage_targets board arm-none-eabi-cortex-m4f ;;
    devices) [ "$devices" != all ] || devices=""
      # shellcheck disable=SC2086
      stage_targets devices $devices ;;
    format) stage_command format check_format ;;
    tidy) stage_command tidy check_tidy ;;
    bindings)  # in the build of stage hosted, which has the library and the tool
      folder=$build-hosted
      [ -x "$folder/src/compiler/rnnpack" ] || folder=$build-bindings
      stage_counted bindings scripts/test_bindings.sh "$folder" ;;
    desktops) stage_counted desktops make --no-print-directory test-desktops BUILD="$build" ;;
    by-hand) stage_by_hand ;;
    *) echo "test.sh: no stage '$stage'; there are: format hosted board make-test hosted-rest freestanding asan tsan tidy devices bindings desktops by-hand fuzz" >&2; exit 1 ;;
  esac
  spent
  echo "== $stage: $((seconds - before)) s of CPU, $((SECONDS - began)) s"
done

wait_for_python
[ -z "$failures" ] || echo "failed stages:$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
