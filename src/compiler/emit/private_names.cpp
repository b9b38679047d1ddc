// private_names.cpp -- Contract: private_names.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/private_names.h"

#include <cctype>
#include <cstring>
#include <sstream>

namespace rnnp::compiler {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The identifier that ends before `end`, template arguments left out; "" when there is none.
std::string word_before(const std::string &line, size_t end) {
  while (end > 0 && line[end - 1] == ' ') --end;
  if (end > 0 && line[end - 1] == '>') {
    int depth = 0;
    while (end > 0) {
      --end;
      depth += line[end] == '>' ? 1 : line[end] == '<' ? -1 : 0;
      if (depth == 0) break;
    }
  }
  size_t begin = end;
  while (begin > 0 && is_word(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

std::string word_after(const std::string &line, size_t begin) {
  size_t end = begin;
  while (end < line.size() && is_word(line[end])) ++end;
  return line.substr(begin, end - begin);
}

// What a line at the first column declares; "" for attributes, templates' heads, macros and the like.
std::string declared(std::string line) {
  const std::string unused = "[[maybe_unused]] ";
  if (line.compare(0, unused.size(), unused) == 0) line.erase(0, unused.size());
  for (const char *word : {"template", "static_assert", "extern", "namespace", "#", "//", "}", "\""})
    if (line.compare(0, std::strlen(word), word) == 0) return "";
  for (const char *word : {"struct ", "class ", "enum class ", "enum ", "union ", "using "})
    if (line.compare(0, std::strlen(word), word) == 0) return word_after(line, std::strlen(word));
  const std::string name = word_before(line, line.find_first_of("(=[;{"));
  return name == word_after(line, 0) ? "" : name;  // a macro
}

// Names of data members that the text declares: a declaration inside braces, of nothing but a type and the name.
std::set<std::string> fields_of(const std::string &text, const std::set<std::string> &names) {
  std::set<std::string> fields;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] != ' ' || line.back() != ';' || line.find_first_of("=()[.>-") != std::string::npos) continue;
    const std::string name = word_before(line, line.size() - 1), type = line.substr(0, line.size() - 1 - name.size());
    if (names.count(name) && type.find_first_not_of(' ') != std::string::npos && type.find("return") == std::string::npos)
      fields.insert(name);
  }
  return fields;
}

// Behind the first of a line like "constexpr int kRows = 4, kColumns = 8;".
void add_further_constants(const std::string &line, std::set<std::string> *names) {
  if (line.compare(0, 10, "constexpr ") != 0 || line.find('(') < line.find(" = ")) return;
  for (size_t at = line.find(", "); at != std::string::npos; at = line.find(", ", at + 1)) {
    const std::string name = word_after(line, at + 2);
    if (!name.empty() && line.compare(at + 2 + name.size(), 3, " = ") == 0) names->insert(name);
  }
}

}  // namespace

std::set<std::string> private_names(const std::string &text) {
  std::set<std::string> names;
  std::istringstream stream(text);
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "namespace {") inside = true;
    if (line == "}  // namespace") inside = false;
    if (!inside || line.empty() || line[0] == ' ') continue;
    const std::string name = declared(line);
    if (!name.empty()) names.insert(name);
    add_further_constants(line, &names);
  }
  return names;
}

std::set<std::string> words_of(const std::string &text) {
  std::set<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const std::string word = word_after(text, at);
    if (!word.empty()) words.insert(word);
    at += word.empty() ? 1 : word.size();
  }
  return words;
}

std::string with_suffix(const std::string &text, const std::set<std::string> &names, const std::string &suffix) {
  const std::set<std::string> fields = fields_of(text, names);
  std::string out;
  char before = ' ', before_that = ' ';  // the last characters that are no space
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    size_t end = at + 1;
    std::string added;
    if (text.compare(at, 2, "//") == 0) {
      end = text.find('\n', at);
    } else if (c == '"' || (c == '\'' && !is_word(before))) {
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (is_word(c)) {
      while (end < text.size() && is_word(text[end])) ++end;
      const bool member = before == '.' || (before == '>' && before_that == '-');
      if ((member ? fields : names).count(text.substr(at, end - at))) added = suffix;
    }
    if (end > text.size()) end = text.size();
    out.append(text, at, end - at);
    out += added;
    if (!std::isspace(static_cast<unsigned char>(text[end - 1])))
      before_that = end - at > 1 ? text[end - 2] : before, before = text[end - 1];
    at = end;
  }
  return out;
}

}  // namespace rnnp::compiler
