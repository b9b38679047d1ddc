# SPDX-License-Identifier: Apache-2.0
# cpuinfo has no CMake or pkg-config files in Debian: target cpuinfo_library.
find_path(cpuinfo_INCLUDE_DIR cpuinfo.h)
find_library(cpuinfo_LIBRARY cpuinfo)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cpuinfo_library REQUIRED_VARS cpuinfo_LIBRARY cpuinfo_INCLUDE_DIR)
if(cpuinfo_library_FOUND AND NOT TARGET cpuinfo_library)
  add_library(cpuinfo_library UNKNOWN IMPORTED)
  set_target_properties(cpuinfo_library PROPERTIES IMPORTED_LOCATION ${cpuinfo_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${cpuinfo_INCLUDE_DIR})
endif()
