// source_package.cpp -- Contract: source_package.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/source_package.h"

#include "compiler/emit/library_sources.h"
#include "compiler/emit/version.h"

namespace rnnp::compiler {
namespace {

bool take_prefix(std::string *path, const std::string &prefix) {
  if (path->compare(0, prefix.size(), prefix) != 0) return false;
  path->erase(0, prefix.size());
  return true;
}

std::string with_version(std::string text) {
  const std::string from = "@VERSION@";
  const size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), version_text());
  return text;
}

// "" for what has no place in a package.
std::string place(std::string path) {
  if (take_prefix(&path, "platform/packages/") || path == "LICENSE" || path == "THIRD_PARTY_NOTICES") return path;
  if (take_prefix(&path, "include/") || take_prefix(&path, "src/") || path.compare(0, 9, "platform/") == 0) return "src/" + path;
  return "";
}

bool is_source(const std::string &path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".cpp") == 0;
}

}  // namespace

std::string language_guard() {
  return R"(#if __cplusplus < 201402L
#error "rnnpack needs C++14 or later: compile with -std=gnu++17"
#elif __cplusplus < 201703L && (defined(__clang__) || __GNUC__ >= 12)
#pragma GCC diagnostic ignored "-Wc++17-extensions" /* which GCC and Clang have in C++14, too */
#endif
)";
}

std::vector<PackageFile> source_package() {
  std::vector<PackageFile> files;
  for (size_t i = 0; i < kLibrarySourceCount; ++i) {
    const std::string path = place(kLibrarySources[i].path);
    if (!path.empty()) files.push_back({path, (is_source(path) ? language_guard() : "") + with_version(kLibrarySources[i].text)});
  }
  // Arduino finds a library by a header of its name.
  files.push_back({"src/rnnpack.h", "#include \"rnnpack/registry.h\"\n"});
  return files;
}

}  // namespace rnnp::compiler
