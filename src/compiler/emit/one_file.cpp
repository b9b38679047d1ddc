// one_file.cpp -- Contract: one_file.h. Headers come once, in the order in which they are needed; those in RNNPACK_SET's namespace
// once for each value that a source gives it. Nothing is renamed: unnamed namespaces of the whole library have no name in common
// (tests/docs/unique_private_names.py). SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/one_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "compiler/emit/library_sources.h"
#include "compiler/emit/upper.h"

namespace rnnp::compiler {
namespace {

bool starts_with(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool ends_with(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// The path in `#include "path"`, or "".
std::string included(const std::string &line) {
  const std::string prefix = "#include \"";
  return starts_with(line, prefix) ? line.substr(prefix.size(), line.find('"', prefix.size()) - prefix.size()) : "";
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What follows the first `begin` that begins a line, up to that line's end; "" where there is none.
std::string line_after(const std::string &text, const std::string &begin) {
  for (const std::string &line : lines_of(text))
    if (starts_with(line, begin)) return line.substr(begin.size());
  return "";
}

// What a text defines is its own: another has the same names.
std::string without_macros(const std::string &text) {
  static const std::string kDefine = "#define ";
  std::set<std::string> names;
  for (const std::string &line : lines_of(text)) {
    if (starts_with(line, kDefine))
      names.insert(line.substr(kDefine.size(), line.find_first_of(" (\\", kDefine.size()) - kDefine.size()));
  }
  std::string out;
  for (const std::string &name : names) out += "#undef " + name + "\n";
  return out;
}

// The sources of one RNNPACK_SET, or of none.
struct Unit {
  std::string text, condition;  // the condition is that of the source that is being added
  // Those of its namespace, once for each condition; their guards leave one.
  std::set<std::pair<std::string, std::string>> headers;
};

class OneFile {
 public:
  OneFile() {
    for (size_t i = 0; i < kLibrarySourceCount; ++i) {
      std::string path = kLibrarySources[i].path;
      for (const char *prefix : {"include/", "src/"})
        if (starts_with(path, prefix)) path.erase(0, std::string(prefix).size());
      sources_[path] = kLibrarySources[i].text;
    }
  }

  std::string public_headers() {
    for (const char *path : {"rnnpack/rnnpack.h", "rnnpack/registry.h", "rnnpack/trace.h"}) share(path, true);
    return "#define RNNPACK_REGISTRY_NO_OBJECTS 1\n" + shared_;
  }

  std::string library(const std::vector<std::string> &ops, const std::vector<std::string> &groups) {
    leave_out_sets_without(groups);
    for (const auto &source : sources_)
      if (ends_with(source.first, ".cpp") && is_root(source.first, ops)) add(source.first);
    while (add_what_headers_promise()) {
    }
    // What a header holds and a program need not use is in the main file here.
    const std::string clang = "#if defined(__clang__)\n#pragma clang diagnostic ";
    std::string text = clang + "push\n#pragma clang diagnostic ignored \"-Wunused-function\"\n" +
                       "#pragma clang diagnostic ignored \"-Wunused-const-variable\"\n#endif\n" + shared_;
    for (const auto &unit : units_) text += unit.second.text + without_macros(unit.second.text);
    return text + clang + "pop\n#endif\n";
  }

 private:
  // Instruction sets that have no kernel for the layouts in use: `gemm_f32_nr4` needs a row like gemm_f32_nr4_mve of kernels.inc.
  void leave_out_sets_without(const std::vector<std::string> &groups) {
    const std::string rows = text_of("kernels/kernels.inc"), sets = text_of("base/isa.inc");
    for (const auto &source : sources_) {
      const std::string &path = source.first, isa = set_of(path);
      const bool is_set = sets.find("RNNPACK_HAVE_" + upper(isa)) != std::string::npos;
      if (!is_set || !starts_with(path, "kernels/gemm_") || !ends_with(path, ".cpp")) continue;
      const bool used = std::any_of(groups.begin(), groups.end(), [&](const std::string &group) {
        const size_t layout = group.find("_nr");
        return layout != std::string::npos &&
               rows.find("(" + group.substr(std::string("rnnp_kernels_").size()) + "_" + isa + ",") != std::string::npos;
      });
      if (!used) left_out_.insert(isa);
    }
  }

  // Of what a program of its own never calls, only the functions that know every operator are left out.
  bool is_root(const std::string &path, const std::vector<std::string> &ops) const {
    if (path == "runtime/registry.cpp" || left_out_.count(set_of(path))) return false;
    if (!starts_with(path, "ops/"))
      return starts_with(path, "runtime/") || starts_with(path, "kernels/") || starts_with(path, "format/") ||
             path == "platform/bare/cpu_bare.cpp";
    return std::any_of(ops.begin(), ops.end(), [&](const std::string &op) {
      return sources_.at(path).find("\nRNNPACK_OP(" + op.substr(std::string("rnnp_op_").size()) + ",") != std::string::npos;
    });
  }

  // kernels/gemm_avx2.cpp is of the instruction set avx2.
  static std::string set_of(const std::string &path) {
    const size_t begin = path.find_last_of("_/") + 1;
    return path.substr(begin, path.rfind('.') - begin);
  }

  void add(const std::string &path) {
    if (!added_.insert(path).second) return;
    const std::string &text = text_of(path);
    Unit &unit = units_[line_after(text, "#define RNNPACK_SET ")];
    unit.condition = line_after(text, "#if");
    append(&unit, path);
    unit.text += without_macros(text);
  }

  bool add_what_headers_promise() {
    std::vector<std::string> found;
    for (const std::string &header : done_) {
      const std::string source = header.substr(0, header.rfind('.')) + ".cpp";
      if (sources_.count(source) && !added_.count(source) && source != "runtime/registry.cpp") found.push_back(source);
    }
    for (const std::string &path : found) add(path);
    return !found.empty();
  }

  const std::string &text_of(const std::string &path) const {
    const auto found = sources_.find(path);
    if (found == sources_.end()) throw std::logic_error("the tool does not carry " + path);
    return found->second;
  }

  void include(Unit *unit, const std::string &path) {
    if (ends_with(path, ".inc")) return append(unit, path);
    if (text_of(path).find("namespace rnnp::RNNPACK_SET") == std::string::npos) return share(path, false);
    if (unit->headers.insert({unit->condition, path}).second) append(unit, path);
  }

  void append(Unit *unit, const std::string &path) {
    const bool rows_only = path == "base/isa.inc";  // what it asks the compiler is in the shared text, once
    for (const std::string &line : lines_of(text_of(path))) {
      if (rows_only && !starts_with(line, "RNNPACK_ISA(")) continue;
      const std::string next = included(line);
      if (!next.empty()) {
        include(unit, next);
      } else {
        unit->text += line + "\n";
      }
    }
  }

  void share(const std::string &path, bool is_public) {
    if ((!is_public && starts_with(path, "rnnpack/")) || !done_.insert(path).second) return;
    std::string text;
    append_shared(path, is_public, &text);
    if (path == "kernels/isa.h")
      for (const std::string &isa : left_out_) text += "#undef RNNPACK_HAVE_" + upper(isa) + "\n";
    shared_ += text;
  }

  void append_shared(const std::string &path, bool is_public, std::string *text) {
    for (const std::string &line : lines_of(text_of(path))) {
      const std::string next = included(line);
      if (next.empty()) {
        *text += line + "\n";
      } else if (ends_with(next, ".inc")) {
        append_shared(next, is_public, text);
      } else {
        share(next, is_public);
      }
    }
  }

  std::map<std::string, std::string> sources_;
  std::set<std::string> done_, added_, left_out_;
  std::map<std::string, Unit> units_;
  std::string shared_;
};

}  // namespace

std::string public_headers_text() {
  return OneFile().public_headers();
}

std::string library_text(const std::vector<std::string> &ops, const std::vector<std::string> &groups) {
  return OneFile().library(ops, groups);
}

}  // namespace rnnp::compiler
