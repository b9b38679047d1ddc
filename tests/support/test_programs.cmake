# SPDX-License-Identifier: Apache-2.0
# The headers that nearly every test includes, parsed once for all of them: GoogleTest's, and protobuf's for those that see the compiler.
function(rnnpack_precompiled_tests name)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBRARIES;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  rnnpack_host_target(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  rnnpack_precompile(${name} HEADERS ${arg_HEADERS} ${RNNPACK_STD_HEADERS})
endfunction()
# Tests of the compiler build models and look at what comes out: the work is the compiler's, and -O0 halves what they cost to build.
set(RNNPACK_COMPILER_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)
rnnpack_precompiled_tests(precompiled_tests HEADERS <gtest/gtest.h> LIBRARIES GTest::gtest)
if(RNNPACK_COMPILER)
  rnnpack_precompiled_tests(precompiled_compiler_tests HEADERS <gtest/gtest.h> <onnx/onnx_pb.h> LIBRARIES GTest::gtest rnnpack_onnx
    OPTIONS ${RNNPACK_COMPILER_TEST_OPTIONS})
endif()

# rnnpack_test_target(<target> [LAYERS ...]): a host target whose files include GoogleTest.
function(rnnpack_test_target name)
  cmake_parse_arguments(arg "" "" "LAYERS" ${ARGN})
  rnnpack_host_target(${name} LAYERS ${arg_LAYERS})
  if(compiler IN_LIST arg_LAYERS)
    target_compile_options(${name} PRIVATE ${RNNPACK_COMPILER_TEST_OPTIONS})
    target_link_libraries(${name} PRIVATE rnnpack_onnx)
    rnnpack_precompile(${name} FROM precompiled_compiler_tests)
  else()
    rnnpack_precompile(${name} FROM precompiled_tests)
  endif()
endfunction()

# rnnpack_discover_tests(<target> [PREFIX <of names>] [FILTER <GoogleTest's>] [ONE_BY_ONE]): a CTest case per GoogleTest case, for running
# one by name. A whole suite runs faster in shards, of many cases in one process: RNNPACK_TEST_SHARDS adds so many for each program, named
# shards.<target>.<i>, and gives the cases they run the label "sharded", so that `ctest -LE sharded` runs every case once. ONE_BY_ONE: the
# cases want a process each.
set(RNNPACK_TEST_SHARDS 0 CACHE STRING "Also run the cases of each GoogleTest program in so many processes")
function(rnnpack_discover_tests name)
  cmake_parse_arguments(arg "ONE_BY_ONE" "PREFIX;FILTER" "" ${ARGN})
  set(filter "")
  set(chosen "")
  if(arg_FILTER)
    set(filter TEST_FILTER ${arg_FILTER})
    set(chosen --gtest_filter=${arg_FILTER})
  endif()
  set(label "")
  if(RNNPACK_TEST_SHARDS AND NOT arg_ONE_BY_ONE)
    set(label LABELS sharded)
    find_program(PYTHON3 python3 REQUIRED)
    math(EXPR last "${RNNPACK_TEST_SHARDS} - 1")
    foreach(index RANGE ${last})
      set(shard shards.${name}.${index})
      add_test(NAME ${shard} COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/support/run_shard.py ${PROJECT_BINARY_DIR}/shards/${shard}.xml
        "${arg_PREFIX}" ${index} ${RNNPACK_TEST_SHARDS} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}> ${chosen})
      set_tests_properties(${shard} PROPERTIES TIMEOUT 3600 COST 50 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
    endforeach()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${arg_PREFIX}" ${filter} DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 600 ${label})
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
  find_program(PYTHON3 python3 REQUIRED)
  add_test(NAME shards_name_what_fails COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/run_shard_test.py)
  set_tests_properties(shards_name_what_fails PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
