# stages.sh -- sourced by what builds a stage of make test: stage_arguments STAGE prints CMake's arguments, one a line.
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
stage_arguments() {
  local hosted="-DRNNPACK_XNNPACK=ON -DRNNPACK_CPUINFO=ON -DRNNPACK_PTHREADPOOL=ON -DRNNPACK_COMPILER=ON" clang="-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++"
  local arguments
  case $1 in
    hosted) arguments="$hosted -DRNNPACK_DEMO=ON -DCMAKE_BUILD_TYPE=Release" ;;
    freestanding) arguments="-DCMAKE_BUILD_TYPE=MinSizeRel" ;;
    clang) arguments="$clang -DCMAKE_BUILD_TYPE=Release" ;;
    asan) arguments="$hosted -DRNNPACK_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo" ;;
    tsan) arguments="$hosted -DRNNPACK_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo" ;;
    fuzz) arguments="-DRNNPACK_COMPILER=ON -DRNNPACK_FUZZ=ON -DRNNPACK_SANITIZE=fuzzer-no-link,address,undefined $clang -DCMAKE_BUILD_TYPE=RelWithDebInfo" ;;
    *) return 1 ;;
  esac
  # shellcheck disable=SC2086
  printf '%s\n' -DRNNPACK_TESTS=ON $arguments
}
