# SPDX-License-Identifier: Apache-2.0
# XNNPACK has no CMake or pkg-config files in Debian: target xnnpack_library.
find_path(xnnpack_INCLUDE_DIR xnnpack.h)
find_library(xnnpack_LIBRARY XNNPACK)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xnnpack_library REQUIRED_VARS xnnpack_LIBRARY xnnpack_INCLUDE_DIR)
if(xnnpack_library_FOUND AND NOT TARGET xnnpack_library)
  add_library(xnnpack_library UNKNOWN IMPORTED)
  set_target_properties(xnnpack_library PROPERTIES IMPORTED_LOCATION ${xnnpack_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${xnnpack_INCLUDE_DIR})
endif()
