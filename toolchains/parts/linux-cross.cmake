# SPDX-License-Identifier: Apache-2.0
# What the Linux cross toolchains share. The caller has set RNNPACK_TRIPLE, RNNPACK_PROCESSOR and RNNPACK_QEMU (an emulator of user programs).
# The emulated CPU is chosen by the environment variable QEMU_CPU, so one build is tested on many: QEMU_CPU=cortex-a53 ctest
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${RNNPACK_PROCESSOR})
set(CMAKE_LIBRARY_ARCHITECTURE ${RNNPACK_TRIPLE})

# A private sysroot may bring libraries (scripts/fetch_arm_sysroot.sh); its programs look for them there.
set(RNNPACK_SYSROOT "" CACHE PATH "Folder with this target's libraries, unpacked from Debian packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RNNPACK_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${RNNPACK_SYSROOT} /usr/${RNNPACK_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR ${RNNPACK_QEMU} -L /usr/${RNNPACK_TRIPLE})
if(RNNPACK_SYSROOT)
  set(libraries ${RNNPACK_SYSROOT}/usr/lib/${RNNPACK_TRIPLE})
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -E LD_LIBRARY_PATH=${libraries}:/usr/${RNNPACK_TRIPLE}/lib)
  # Shared libraries of the sysroot name others that lie beside them.
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath-link,${libraries}")
endif()
