// metric.cpp -- Contract: metric.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/metric.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

namespace fs = std::filesystem;

// Gone at the end of its scope.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "rnnpack-metric-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw IoError("no folder can be made for --metric in " + quote(fs::temp_directory_path().string()));
    path_ = name;
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path &path() const { return path_; }

 private:
  fs::path path_;
};

// Names of tensors may hold what names of files may not.
std::string file_name(const std::string &name) {
  std::string out = name;
  for (char &c : out) {
    if (c == '/' || c == '\0') c = '_';
  }
  return out + ".npy";
}

void write_arrays(const fs::path &folder, const Arrays &arrays) {
  fs::create_directories(folder);
  std::map<std::string, std::string> outputs;
  for (const auto &array : arrays) {
    const auto added = outputs.emplace(file_name(array.first), array.first);
    if (!added.second)
      throw UsageError("--metric: outputs " + quote(added.first->second) + " and " + quote(array.first) + " would both be in " +
                       quote(added.first->first) + "; rename one of them in the ONNX file");
    const std::vector<uint8_t> bytes = format_npy(array.second);
    write_file((folder / file_name(array.first)).string(), bytes.data(), bytes.size());
  }
}

// While it lives an interrupt from the keyboard, which the program gets too, does not end the tool: its folder has to go first.
class Uninterrupted {
 public:
  Uninterrupted() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < 2; ++i) sigaction(kSignals[i], &ignore, &before_[i]);
  }
  Uninterrupted(const Uninterrupted &) = delete;
  Uninterrupted &operator=(const Uninterrupted &) = delete;
  ~Uninterrupted() { restore(); }
  void restore() const {
    for (size_t i = 0; i < 2; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr int kSignals[2] = {SIGINT, SIGQUIT};
  struct sigaction before_[2] = {};
};

// What the program prints; it is run as it is named, without a shell.
std::string output_of(const std::string &program, const std::string &argument) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw IoError("--metric: no pipe can be made");
  const Uninterrupted uninterrupted;
  const pid_t child = fork();
  if (child == 0) {
    uninterrupted.restore();
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execlp(program.c_str(), program.c_str(), argument.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  const bool ended = child >= 0 && waitpid(child, &status, 0) >= 0;
  if (ended && WIFSIGNALED(status))
    throw IoError("--metric " + quote(program) + " was ended by signal " + std::to_string(WTERMSIG(status)));
  if (!ended || WEXITSTATUS(status) != 0)
    throw IoError("--metric " + quote(program) + (WEXITSTATUS(status) == 127 ? " cannot be run" : " failed"));
  return text;
}

}  // namespace

double run_metric(const std::string &program, const Arrays &outputs, const Arrays &f32) {
  const Folder folder;
  write_arrays(folder.path(), outputs);
  write_arrays(folder.path() / "f32", f32);
  const std::string text = output_of(program, folder.path().string());
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || std::isnan(value)) throw IoError("--metric " + quote(program) + " printed no number");
  return value;
}

}  // namespace rnnp::compiler
