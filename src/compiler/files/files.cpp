// files.cpp -- Contract: files.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/files/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <map>
#include <new>
#include <optional>

#include "compiler/onnx/errors.h"

namespace rnnp::compiler {

namespace {

thread_local uint64_t most_input_bytes = uint64_t{1} << 30;

[[noreturn]] void fail(const char *verb, const std::string &path) {
  throw IoError(std::string("cannot ") + verb + " " + quote(path) + ": " + std::strerror(errno));
}

class Descriptor {
 public:
  Descriptor(const std::string &path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC)) {}
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { shut(); }

  int get() const { return fd_; }
  bool shut() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || close(fd) == 0;
  }

 private:
  int fd_;
};

bool write_all(int fd, const void *from, size_t bytes) {
  const auto *data = static_cast<const uint8_t *>(from);
  while (bytes > 0) {
    const ssize_t done = write(fd, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    data += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

// The file that `path` names, through links, even where it is not there yet.
std::string real_path(const std::string &path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  std::filesystem::path place = path;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(place, error); ++i)
    place = place.parent_path() / std::filesystem::read_symlink(place, error);
  const std::filesystem::path real = std::filesystem::weakly_canonical(place, error);
  return error || real.empty() ? path : real.string();
}

// What may not be replaced by a regular file: a terminal, a pipe, /dev/null.
bool is_special(const std::string &path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

// While it lives signals that end the tool wait, so that nothing half-written stays.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  HeldSignals(const HeldSignals &) = delete;
  HeldSignals &operator=(const HeldSignals &) = delete;
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// A new file until it is complete; removed unless it was renamed into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const OutputFile &file) : target_(file.path), place_(real_path(file.path)), path_(place_ + ".XXXXXX") {
    if (std::filesystem::is_directory(place_))
      throw IoError("cannot write " + quote(target_) + ": it is a folder; give a file's name");
    Descriptor descriptor(mkstemp(path_.data()));
    if (descriptor.get() < 0) {
      path_.clear();
      fail("write", target_);
    }
    const mode_t mask = umask(0);
    umask(mask);
    const bool good =
        write_all(descriptor.get(), file.data, file.bytes) && fchmod(descriptor.get(), 0666 & ~mask) == 0 && descriptor.shut();
    if (!good) {
      const int why = errno;
      unlink(path_.c_str());
      path_.clear();
      errno = why;
      fail("write", target_);
    }
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  void move_into_place() {
    if (rename(path_.c_str(), place_.c_str()) != 0) fail("write", target_);
    path_.clear();
  }

 private:
  std::string target_, place_, path_;
};

void write_special(const OutputFile &file) {
  Descriptor descriptor(file.path, O_WRONLY);
  if (descriptor.get() < 0 || !write_all(descriptor.get(), file.data, file.bytes) || !descriptor.shut()) fail("write", file.path);
}

}  // namespace

uint64_t input_limit() {
  return most_input_bytes;
}

void set_input_limit(uint64_t bytes) {
  most_input_bytes = bytes;
}

InputLimit::InputLimit(std::optional<uint64_t> bytes) : before_(most_input_bytes) {
  if (bytes) most_input_bytes = *bytes;
}

void check_input_bytes(uint64_t bytes, const std::string &what) {
  if (bytes <= most_input_bytes) return;
  throw IoError(what + " takes " + std::to_string(bytes) + " bytes; accepted: up to " + std::to_string(most_input_bytes) +
                ", or more with --max-input BYTES");
}

std::vector<uint8_t> read_file(const std::string &path, uint64_t most) {
  Descriptor descriptor(path, O_RDONLY);
  struct stat about {};
  if (descriptor.get() < 0) fail("open", path);
  if (fstat(descriptor.get(), &about) != 0) fail("read", path);
  if (S_ISDIR(about.st_mode)) throw IoError("cannot read " + quote(path) + ": it is a folder; give a file's name");
  if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode))
    throw IoError("cannot read " + quote(path) + ": it is a device; accepted: files and pipes");
  const auto check = [&](uint64_t bytes) {
    if (bytes <= most) return;
    if (most == most_input_bytes) check_input_bytes(bytes, quote(path));
    throw IoError(quote(path) + " takes more than " + std::to_string(most) + " bytes");
  };
  check(about.st_size > 0 ? static_cast<uint64_t>(about.st_size) : 0);
  // One byte more, so that the file's end is found without room for another part.
  std::vector<uint8_t> bytes(about.st_size > 0 ? static_cast<size_t>(about.st_size) + 1 : 0);
  for (size_t at = 0;;) {
    check(at);
    if (at == bytes.size()) bytes.resize(at + (size_t{1} << 16));
    const ssize_t done = read(descriptor.get(), bytes.data() + at, bytes.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("read", path);
    at += static_cast<size_t>(done);
    if (done > 0) continue;
    bytes.resize(at);
    return bytes;
  }
}

void write_files(const std::vector<OutputFile> &files) {
  std::optional<HeldSignals> held;  // a pipe may take for ever
  if (std::none_of(files.begin(), files.end(), [](const OutputFile &file) { return is_special(file.path); })) held.emplace();
  std::list<TemporaryFile> complete;
  for (const OutputFile &file : files) {
    if (!is_special(file.path)) complete.emplace_back(file);
  }
  for (const OutputFile &file : files) {
    if (is_special(file.path)) write_special(file);
  }
  for (TemporaryFile &file : complete) file.move_into_place();
}

void write_file(const std::string &path, const void *data, size_t bytes) {
  write_files({{path, data, bytes}});
}

std::vector<std::string> paths_in(const std::vector<std::string> &texts) {
  std::vector<std::string> paths;
  for (const std::string &text : texts) {
    paths.push_back(text);
    for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) paths.push_back(text.substr(at + 1));
  }
  return paths;
}

void check_distinct(const std::vector<std::string> &inputs, const std::vector<std::string> &outputs) {
  std::map<std::string, const char *> known;
  for (const std::string &path : inputs) known.emplace(real_path(path), "is also an input");
  for (const std::string &path : outputs) {
    if (is_special(path)) continue;
    const auto added = known.emplace(real_path(path), "is named for two outputs");
    if (!added.second) throw UsageError("output " + quote(path) + " " + added.first->second + "; give each a file of its own");
  }
}

AlignedBytes::AlignedBytes(size_t bytes, size_t alignment) : size_(bytes) {
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<uint8_t *>(std::aligned_alloc(alignment, whole ? whole : alignment)));
  if (!data_) throw std::bad_alloc();
  // What an earlier session left in memory that the allocator gives again would pass for a live one.
  std::memset(data_.get(), 0, whole);
}

}  // namespace rnnp::compiler
