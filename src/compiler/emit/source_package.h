// source_package.h -- the device library as one folder that other build systems take as it is.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_SOURCE_PACKAGE_H_
#define RNNPACK_COMPILER_EMIT_SOURCE_PACKAGE_H_

#include <string>
#include <vector>

namespace rnnp::compiler {

struct PackageFile {
  std::string path;  // in the package
  std::string text;
};

// Package files as they lie in platform/packages, with @VERSION@ filled in; sources and headers below src, which is the one include
// path. Every .cpp below src is compiled, with the same flags; those of other instruction sets are empty then (kernels/isa.h).
std::vector<PackageFile> source_package();

// What sources for other build systems begin with: which C++ they need, and quiet where the compiler warns of more than it lacks.
std::string language_guard();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_SOURCE_PACKAGE_H_
