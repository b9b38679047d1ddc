// cmd_sources.cpp -- `rnnpack sources`: the device library as a folder for Arduino, PlatformIO, ESP-IDF, Zephyr or any other build.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/emit/source_package.h"
#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

void write_sources(const std::string &folder, const std::vector<PackageFile> &package) {
  std::error_code error;
  std::vector<OutputFile> files;
  for (const PackageFile &file : package) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw IoError("cannot make " + quote(path.parent_path().string()) + ": " + error.message());
    files.push_back({path.string(), file.text.data(), file.text.size()});
  }
  write_files(files);
}

// Of a folder that was new or empty.
void take_back(const std::string &folder, bool was_there) {
  std::error_code error;
  if (!was_there) std::filesystem::remove_all(folder, error);
  if (!std::filesystem::is_directory(folder, error)) return;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) std::filesystem::remove_all(entry.path(), error);
}

// A folder that is there already may hold files of another version, which would be compiled along.
int write_package(const std::string &folder) {
  std::error_code error;
  const bool was_there = std::filesystem::exists(folder, error);
  if (was_there && !std::filesystem::is_empty(folder, error)) throw UsageError(quote(folder) + " is not empty; give a new folder");
  const std::vector<PackageFile> package = source_package();
  try {
    write_sources(folder, package);
  } catch (...) {
    take_back(folder, was_there);
    throw;
  }
  std::fprintf(stderr, "%zu files in %s\n", package.size(), folder.c_str());
  return kExitOk;
}

}  // namespace

void add_sources(CLI::App *app, Action *action) {
  auto folder = std::make_shared<std::string>();
  CLI::App *command = app->add_subcommand(
      "sources", "Write the device library as a folder of sources: for Arduino, PlatformIO, ESP-IDF, Zephyr, or one g++ command");
  command->add_option("folder", *folder, "new folder")->required();
  command->callback([folder, action] { *action = [folder] { return write_package(*folder); }; });
}

}  // namespace rnnp::compiler
