# stages.sh -- sourced by what builds a stage of make test: stage_arguments STAGE prints CMake's arguments, one a line.
# The compiler is the dear part of a build: two stages have it, GCC's with all the programs and Clang's with the sanitizers and fuzzers.
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
stage_arguments() {
  local libraries=(-DRNNPACK_XNNPACK=ON -DRNNPACK_CPUINFO=ON -DRNNPACK_PTHREADPOOL=ON)
  local clang=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
  # Optimised as far as it pays for itself in these tests, with the line numbers that reports name; assertions are on.
  local light=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
  local arguments
  case $1 in
    hosted) arguments=("${libraries[@]}" -DRNNPACK_COMPILER=ON -DRNNPACK_DEMO=ON -DRNNPACK_HOST_TOOLS=ON -DRNNPACK_CUDA=EMULATED -DCMAKE_BUILD_TYPE=Release) ;;
    # The library alone, by Clang, optimised; char is unsigned, as on Arm. GCC builds it alone, and small, for the emulated board.
    freestanding) arguments=("${clang[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-funsigned-char -DCMAKE_CXX_FLAGS=-funsigned-char) ;;
    asan) arguments=("${libraries[@]}" -DRNNPACK_COMPILER=ON -DRNNPACK_FUZZ=ON -DRNNPACK_CUDA=EMULATED -DRNNPACK_SANITIZE=fuzzer-no-link,address,undefined "${clang[@]}" "${light[@]}") ;;
    tsan) arguments=("${libraries[@]}" -DRNNPACK_SANITIZE=thread "${light[@]}") ;;
    *) return 1 ;;
  esac
  printf '%s\n' -DRNNPACK_TESTS=ON -DRNNPACK_TEST_TOOLS=REQUIRED "${arguments[@]}"
}
