# SPDX-License-Identifier: Apache-2.0
# onnx's protobuf messages as an archive, made from the .proto file that onnx installs: distributions have them as a shared library
# alone. Without that file the project's own search goes on and finds the shared one.
set(Protobuf_USE_STATIC_LIBS ON)
include(${root}/cmake/compiler_needs.cmake)
find_package(Protobuf REQUIRED)
find_file(RNNPACK_ONNX_MESSAGES NAMES onnx-ml.proto onnx.proto PATH_SUFFIXES include/onnx onnx DOC "onnx's messages")
find_path(onnx_headers onnx/onnx_pb.h)
if(NOT RNNPACK_ONNX_MESSAGES OR NOT onnx_headers)
  return()
endif()
set(folder ${CMAKE_CURRENT_BINARY_DIR}/messages)
# Messages of the lite runtime have no reflection, which the compiler needs; Debian's file asks for them, its library is built without.
file(READ ${RNNPACK_ONNX_MESSAGES} messages)
string(REGEX REPLACE "option +optimize_for *= *LITE_RUNTIME *;" "" messages "${messages}")
file(CONFIGURE OUTPUT ${folder}/onnx/onnx-ml.proto CONTENT "${messages}" @ONLY)
configure_file(${onnx_headers}/onnx/onnx_pb.h ${folder}/onnx/onnx_pb.h COPYONLY)
set(made ${folder}/onnx/onnx-ml.pb.cc ${folder}/onnx/onnx-ml.pb.h)
add_custom_command(OUTPUT ${made} COMMAND protobuf::protoc --proto_path=${folder} --cpp_out=${folder} onnx/onnx-ml.proto
  DEPENDS ${folder}/onnx/onnx-ml.proto VERBATIM)
add_library(onnx_messages STATIC ${made})
target_include_directories(onnx_messages SYSTEM PUBLIC ${folder})
target_link_libraries(onnx_messages PUBLIC protobuf::libprotobuf)
set(RNNPACK_ONNX_INCLUDE ${folder} CACHE PATH "" FORCE)
set(RNNPACK_ONNX_PROTO onnx_messages CACHE STRING "" FORCE)
