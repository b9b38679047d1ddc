# SPDX-License-Identifier: Apache-2.0
# Programs that run on the building machine while something is built for another one: an own build of this project, shared by all
# targets. rnnpack_host_program(<variable> <name> <folder in the build>): the path of a program; depend on that path and on host_tools.
include_guard(GLOBAL)
include(ExternalProject)

option(RNNPACK_HOST_TOOLS_READY "The host programs are built already: do not look whether they are up to date" OFF)
if(CMAKE_CROSSCOMPILING)
  set(RNNPACK_HOST_TOOLS_DIR ${PROJECT_SOURCE_DIR}/build-host-tools CACHE PATH "Build folder of the host programs, shared by cross builds")
endif()
if(CMAKE_CROSSCOMPILING AND NOT RNNPACK_HOST_TOOLS_READY)
  set(with_compiler "")
  if(RNNPACK_FIRMWARE)
    set(with_compiler -DRNNPACK_COMPILER=ON)
  endif()
  ExternalProject_Add(host_tools
    SOURCE_DIR ${PROJECT_SOURCE_DIR}
    BINARY_DIR ${RNNPACK_HOST_TOOLS_DIR}
    CMAKE_ARGS -DRNNPACK_HOST_TOOLS=ON ${with_compiler} -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    BUILD_ALWAYS ON
    BUILD_BYPRODUCTS ${RNNPACK_HOST_TOOLS_DIR}/tests/device/generate/generate_device_cases ${RNNPACK_HOST_TOOLS_DIR}/src/compiler/rnnpack
      ${RNNPACK_HOST_TOOLS_DIR}/firmware/tools/write_image_data ${RNNPACK_HOST_TOOLS_DIR}/firmware/tools/write_layer_onnx
    INSTALL_COMMAND "")
else()
  add_custom_target(host_tools)
endif()
if(NOT CMAKE_CROSSCOMPILING)
  set(RNNPACK_HOST_TOOLS_DIR ${PROJECT_BINARY_DIR})
endif()

function(rnnpack_host_program variable name folder)
  set(${variable} ${RNNPACK_HOST_TOOLS_DIR}/${folder}/${name} PARENT_SCOPE)
endfunction()
