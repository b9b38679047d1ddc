# SPDX-License-Identifier: Apache-2.0
# pthreadpool has no CMake or pkg-config files in Debian: target pthreadpool_library.
find_path(pthreadpool_INCLUDE_DIR pthreadpool.h)
find_library(pthreadpool_LIBRARY pthreadpool)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(pthreadpool_library REQUIRED_VARS pthreadpool_LIBRARY pthreadpool_INCLUDE_DIR)
if(pthreadpool_library_FOUND AND NOT TARGET pthreadpool_library)
  add_library(pthreadpool_library UNKNOWN IMPORTED)
  set_target_properties(pthreadpool_library PROPERTIES IMPORTED_LOCATION ${pthreadpool_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${pthreadpool_INCLUDE_DIR})
endif()
