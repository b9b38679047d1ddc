# SPDX-License-Identifier: Apache-2.0
# RNNPACK_PACK_SOURCES: the packer's files, for what packs without the compiler (tests, benchmarks).
set(RNNPACK_PACK_SOURCES "")
foreach(name pack pack_f32 pack_half pack_f16 pack_bf16 pack_i8 pack_q15 pack_i4 pack_sparse)
  list(APPEND RNNPACK_PACK_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
endforeach()
