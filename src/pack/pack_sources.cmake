# SPDX-License-Identifier: Apache-2.0
# RNNPACK_PACK_SOURCES: the packer's files, for what packs without the compiler (tests, benchmarks).
file(GLOB RNNPACK_PACK_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/pack*.cpp)
