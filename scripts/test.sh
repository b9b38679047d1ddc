#!/bin/bash
# test.sh BUILD [STAGE...] -- builds each stage in a folder of its own and runs its CTest cases; all stages when none is named.
# Ends with one line that sums up every case of every stage; skipped ones, which passed nothing, are named and counted apart.
# SPDX-License-Identifier: Apache-2.0
set -u
build=$1
shift
# shellcheck source=scripts/stages.sh
. scripts/stages.sh
stages=${*:-hosted freestanding asan tsan devices format tidy}
jobs=${JOBS:-$(nproc)}
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
passed=0 failed=0 skipped=0 failures=""

fail() {
  failed=$((failed + 1))
  failures="$failures $1"
}

# configure_and_build STAGE cmake-arguments...
configure_and_build() {
  local folder=$build-$1 log=$build-$1.log
  echo "== $1: building"
  shift
  cmake -S . -B "$folder" "${generator[@]}" "${launcher[@]}" "$@" >"$log" 2>&1 && cmake --build "$folder" -j "$jobs" >>"$log" 2>&1 && return
  tail -n 60 "$log"
  return 1
}

# run_ctest STAGE ctest-arguments...
run_ctest() {
  local stage=$1 log=$build-$1-ctest.log report=$PWD/$build-$1-ctest.xml
  shift
  echo "== $stage: testing"
  rm -f "$report"
  ctest --test-dir "$build-$stage" -j "$jobs" --timeout 900 --output-on-failure --no-tests=error --output-junit "$report" "$@" >"$log" 2>&1
  local status=$? counts
  grep -E "^( *[0-9]+% tests passed|Total Test time)|\*\*\*(Failed|Timeout|Exception|Not Run)" "$log"
  counts=$(scripts/count_tests.py "$report" 2>&1) || { echo "$counts"; fail "$stage"; return; }
  echo "$counts" | sed '1d'
  read -ra counts < <(echo "$counts" | sed -n 1p)
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  [ "$status" -eq 0 ] && [ "${counts[1]}" -eq 0 ] && return
  grep -vE "   Passed  |Start +[0-9]+:" "$log" | tail -n 80
  [ "${counts[1]}" -gt 0 ] || fail "$stage"
  failures="$failures $stage"
}

stage_cmake() {  # stage_cmake STAGE ctest-arguments...
  local stage=$1 arguments
  shift
  mapfile -t arguments < <(stage_arguments "$stage")
  if configure_and_build "$stage" "${arguments[@]}"; then
    wait_for_python
    run_ctest "$stage" "$@"
  else
    fail "$stage"
  fi
}

stage_command() {  # stage_command STAGE command...
  local stage=$1
  shift
  echo "== $stage"
  if "$@"; then passed=$((passed + 1)); else fail "$stage"; fi
}

check_format() { git ls-files '*.h' '*.c' '*.cpp' | xargs clang-format --dry-run -Werror; }
check_tidy() {
  cmake -S . -B "$build-tidy" "${generator[@]}" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_C_COMPILER=clang >"$build-tidy.log" 2>&1 || { cat "$build-tidy.log"; return 1; }
  git ls-files 'src/*.cpp' 'platform/compiled/*.cpp' | grep -vE 'src/(compiler|pack|cuda|ops/xnnpack)/|xnnpack\.cpp|_(neon|mve|rvv|rvf|simd128|vfpv4)\.cpp' |
    xargs -P "$jobs" -n 4 clang-tidy --quiet -p "$build-tidy" 2>/dev/null
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

# The emulated board's data are made by the programs of stage hosted, where it has been built.
devices() {
  [ ! -x "$build-hosted/firmware/tools/write_image_data" ] || export RNNPACK_HOST_TOOLS_DIR=$PWD/$build-hosted
  RNNPACK_NO_INSTALL=1 scripts/test_devices.sh arm-none-eabi-cortex-m4f
}

# Stage asan runs the fuzz targets too; fuzz is them alone, in the same build. Instructions are counted in stage hosted alone. Under
# TSan threads come from std::thread: Debian's pthreadpool is not instrumented, so TSan cannot see that it synchronises.
for stage in $stages; do
  case $stage in
    hosted | asan) stage_cmake "$stage" ;;
    freestanding) stage_cmake "$stage" -E callgrind ;;
    fuzz) stage_cmake asan -R '^fuzz' ;;
    tsan) stage_cmake tsan -R '(Thread|Bidirectional|Xnnpack|Walk)' -E Pthreadpool ;;
    devices) stage_command devices devices ;;
    format) stage_command format check_format ;;
    tidy) stage_command tidy check_tidy ;;
    *) echo "test.sh: no stage '$stage'; there are: hosted freestanding asan tsan fuzz devices format tidy" >&2; exit 1 ;;
  esac
done

wait_for_python
[ -z "$failures" ] || echo "failed stages:$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
