# SPDX-License-Identifier: Apache-2.0
# RNNPACK_BLOB_BUILDER_SOURCES: the files of the tests' blobs and of the packer, for what builds blobs without the compiler.
include(${CMAKE_CURRENT_LIST_DIR}/../../src/pack/pack_sources.cmake)
set(RNNPACK_BLOB_BUILDER_SOURCES ${RNNPACK_PACK_SOURCES})
foreach(name blob_builder blob_matrices blob_tables)
  list(APPEND RNNPACK_BLOB_BUILDER_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
endforeach()
