# SPDX-License-Identifier: Apache-2.0
# What every target of the device library has in common, and how a layer is declared.
set(RNNPACK_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wcast-align -Wundef)
if(RNNPACK_WERROR)
  list(APPEND RNNPACK_WARNINGS -Werror)
elseif(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
endif()
if(RNNPACK_SANITIZE)
  add_compile_options(-fsanitize=${RNNPACK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RNNPACK_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(-fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/standard_library.ignore)
    if(RNNPACK_SANITIZE MATCHES undefined)
      add_compile_options(-fno-sanitize=function,vptr)  # these want the C++ runtime, and the C programs have none
    endif()
  endif()
endif()

# rnnpack_covered(<target>): what the fuzzers are guided by, in builds that have them. It doubles what a file costs: tests go without.
function(rnnpack_covered name)
  if(RNNPACK_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Device code: C++17 without exceptions, RTTI, thread-safe statics or the C++ runtime; f32 sums are never contracted behind our back.
set(RNNPACK_DEVICE_FLAGS -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-unwind-tables -fno-asynchronous-unwind-tables
  -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno)

if(RNNPACK_THREADS)
  list(APPEND RNNPACK_DEVICE_FLAGS -DRNNPACK_MANY_THREADS)
else()
  list(APPEND RNNPACK_DEVICE_FLAGS -DRNNPACK_ONE_THREAD)
endif()

# Position-independent tables of pointers are writable data until they are relocated; firmware wants them in flash.
set(RNNPACK_PIC ON)
if(CMAKE_SYSTEM_NAME MATCHES "^(Generic|WASI)$")
  set(RNNPACK_PIC OFF)
endif()

# rnnpack_device_layer(<name> SOURCES ... [LAYERS <other layers it may include>...])
# An object library that sees include/ and src/<layer>-relative paths of the named layers only.
function(rnnpack_device_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;LAYERS" ${ARGN})
  add_library(${name} OBJECT ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_17)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ${RNNPACK_PIC} CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${name} PRIVATE ${RNNPACK_WARNINGS} ${RNNPACK_DEVICE_FLAGS})
  # -O3 makes copies of loops for every case it can tell apart: twice the code, no faster. Kernels say themselves what to unroll.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  # Of what a loop does not change, the most is cheaper to make again than to keep where registers are few.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE $<$<CONFIG:MinSizeRel>:-fno-move-loop-invariants>)
  endif()
  rnnpack_see_layers(${name} ${arg_LAYERS})
endfunction()

# rnnpack_api_layer(<name> SOURCES ... LAYERS ... [DEFINITIONS ...])
# A device layer with functions of the public API in it: once with hidden symbols for the archive and, as <name>_shared, once with
# those that the shared library shows.
function(rnnpack_api_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;LAYERS;DEFINITIONS" ${ARGN})
  set(names ${name})
  if(RNNPACK_SHARED)
    list(APPEND names ${name}_shared)
  endif()
  foreach(one IN LISTS names)
    rnnpack_device_layer(${one} SOURCES ${arg_SOURCES} LAYERS ${arg_LAYERS})
    target_compile_definitions(${one} PRIVATE ${arg_DEFINITIONS})
  endforeach()
  if(RNNPACK_SHARED)
    target_compile_definitions(${name}_shared PRIVATE RNNP_SHARED_BUILD=1)
  endif()
endfunction()

# build/layers/<layer>/<layer> -> src/<layer>: an include path through which only that layer's headers can be reached.
function(rnnpack_expose_layer layer)
  if(layer STREQUAL "platform")
    set(source ${PROJECT_SOURCE_DIR}/platform)
  else()
    set(source ${PROJECT_SOURCE_DIR}/src/${layer})
  endif()
  if(NOT EXISTS ${PROJECT_BINARY_DIR}/layers/${layer}/${layer})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/layers/${layer})
    file(CREATE_LINK ${source} ${PROJECT_BINARY_DIR}/layers/${layer}/${layer} SYMBOLIC)
  endif()
endfunction()

# The target may include the public headers and those of the named layers, no others.
function(rnnpack_see_layers name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  foreach(layer IN LISTS ARGN)
    rnnpack_expose_layer(${layer})
    target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/layers/${layer})
  endforeach()
endfunction()

# rnnpack_unity(<target>): its files are compiled several at a time. What they include costs more than what they say.
function(rnnpack_unity name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${RNNPACK_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# rnnpack_precompile(<target> FROM <other> | HEADERS <header>...): headers that cost more than the files that include them are parsed
# once: in this target, or in another one with the same flags. Every file still includes what it uses.
function(rnnpack_precompile name)
  cmake_parse_arguments(arg "" "FROM" "HEADERS" ${ARGN})
  if(NOT RNNPACK_PCH)
    return()
  elseif(arg_FROM)
    target_precompile_headers(${name} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  endif()
endfunction()
set(RNNPACK_STD_HEADERS <algorithm> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <numeric> <optional> <random> <set>
  <string> <vector>)
# A header restored from a compiler cache is newer than the build folder says; what is in it decides.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  list(APPEND CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -fno-pch-timestamp)
endif()

# rnnpack_host_target(<target> [LAYERS ...]): a host program or test, with the layers it may include.
function(rnnpack_host_target name)
  cmake_parse_arguments(arg "" "" "LAYERS" ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_17)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE ${RNNPACK_WARNINGS})
  rnnpack_see_layers(${name} ${arg_LAYERS})
endfunction()
