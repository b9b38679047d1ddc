// bare_metal.cpp -- what GoogleTest wants of a file system, for targets that have none.
// Room: tests/kernels; linked only on bare metal.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/types.h>

extern "C" int stat(const char *, struct stat *) {
  return -1;
}
extern "C" int mkdir(const char *, mode_t) {
  return -1;
}
