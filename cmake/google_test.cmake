# SPDX-License-Identifier: Apache-2.0
# GoogleTest for the machine the tests run on: the installed one, or, cross compiling, Debian's sources built for the target.
if(CMAKE_CROSSCOMPILING)
  set(RNNPACK_GTEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest's sources, for cross builds")
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(${RNNPACK_GTEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest REQUIRED)
endif()
include(GoogleTest)
