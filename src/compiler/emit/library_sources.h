// library_sources.h -- the device library's own sources, carried in the tool: those of bare metal, for every instruction set, and
// the files that Arduino, PlatformIO, ESP-IDF and Zephyr expect beside them (platform/packages). Made by scripts/embed_sources.py.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_LIBRARY_SOURCES_H_
#define RNNPACK_COMPILER_EMIT_LIBRARY_SOURCES_H_

#include <cstddef>

namespace rnnp::compiler {

struct SourceFile {
  const char *path;  // in the repository
  const char *text;
};
extern const SourceFile kLibrarySources[];
extern const size_t kLibrarySourceCount;

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_LIBRARY_SOURCES_H_
