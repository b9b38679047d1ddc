# SPDX-License-Identifier: Apache-2.0
# Jetson (JetPack 6) cross compiled against a copy of the board's root file system. UNTESTED on a board. Needs JETSON_SYSROOT in the
# environment; CUDA sources are compiled for Orin (sm_87).
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake)
if(NOT DEFINED ENV{JETSON_SYSROOT})
  message(FATAL_ERROR "set JETSON_SYSROOT to a copy of the board's root file system")
endif()
set(CMAKE_SYSROOT $ENV{JETSON_SYSROOT})
set(CMAKE_FIND_ROOT_PATH $ENV{JETSON_SYSROOT})
set(CMAKE_CUDA_ARCHITECTURES 87)
