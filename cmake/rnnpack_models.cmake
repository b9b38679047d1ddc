# SPDX-License-Identifier: Apache-2.0
# Models in a program, in this project's tree and where it is installed (find_package(rnnpack COMPONENTS tool)).
#
# rnnpack_add_model(<target> <model.onnx> [NAME <name>] [OPTIONS <of rnnpack compile>...])
#   compiles the model into the target: include "<name>.h" (its text says how), a const array and a registry of what it needs.
# rnnpack_add_registry(<target> <model.rnnp>...)
#   for programs that read blobs: of the operators and kernels only those that these blobs need are linked.
#
# Both link the archive. RNNPACK_TOOL: the program rnnpack, where it cannot be found, as in cross builds.
include_guard(GLOBAL)

function(rnnpack_find_tool result)
  if(RNNPACK_TOOL)
    set(${result} ${RNNPACK_TOOL} PARENT_SCOPE)
  elseif(TARGET rnnpack::tool AND NOT CMAKE_CROSSCOMPILING)
    set(${result} rnnpack::tool PARENT_SCOPE)
  else()
    message(FATAL_ERROR "rnnpack's compiler is not in this build: set RNNPACK_TOOL to a program rnnpack of this version that runs here "
      "(built with RNNPACK_COMPILER=ON)")
  endif()
endfunction()

function(rnnpack_link_what_is_needed target)
  target_link_libraries(${target} PRIVATE rnnpack::rnnpack)
  if(APPLE)
    target_link_options(${target} PRIVATE -Wl,-dead_strip)
  else()
    target_link_options(${target} PRIVATE -Wl,--gc-sections)
  endif()
endfunction()

function(rnnpack_add_model target model)
  cmake_parse_arguments(arg "" "NAME" "OPTIONS" ${ARGN})
  get_filename_component(model ${model} ABSOLUTE)
  if(NOT arg_NAME)
    get_filename_component(arg_NAME ${model} NAME_WE)
  endif()
  rnnpack_find_tool(tool)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_models)
  file(MAKE_DIRECTORY ${folder})
  set(files ${folder}/${arg_NAME}.c ${folder}/${arg_NAME}.h)
  add_custom_command(OUTPUT ${files} COMMAND ${tool} compile ${model} --emit-c ${folder}/${arg_NAME} ${arg_OPTIONS}
    DEPENDS ${model} ${tool} VERBATIM)
  target_sources(${target} PRIVATE ${files})
  target_include_directories(${target} PRIVATE ${folder})
  rnnpack_link_what_is_needed(${target})
endfunction()

function(rnnpack_add_registry target)
  rnnpack_find_tool(tool)
  set(blobs "")
  foreach(blob IN LISTS ARGN)
    get_filename_component(blob ${blob} ABSOLUTE)
    list(APPEND blobs ${blob})
  endforeach()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry.c)
  add_custom_command(OUTPUT ${file} COMMAND ${tool} registry ${blobs} -o ${file} DEPENDS ${blobs} ${tool} VERBATIM)
  target_sources(${target} PRIVATE ${file})
  rnnpack_link_what_is_needed(${target})
endfunction()
