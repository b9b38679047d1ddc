# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm Android. UNTESTED: the NDK is not packaged in Debian. Needs ANDROID_NDK in the environment; the NDK's own file does the work.
if(NOT DEFINED ENV{ANDROID_NDK})
  message(FATAL_ERROR "set ANDROID_NDK to the folder of the Android NDK")
endif()
set(ANDROID_ABI arm64-v8a CACHE STRING "")
set(ANDROID_PLATFORM android-24 CACHE STRING "")
include($ENV{ANDROID_NDK}/build/cmake/android.toolchain.cmake)
