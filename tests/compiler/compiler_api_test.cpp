// compiler_api_test.cpp -- rnnpack/compiler.h: what it gives, what it refuses, and that calls do not see each other.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "compiler/job/compile_job.h"
#include "compiler/job/compile_options.h"
#include "rnnpack/compiler.h"

namespace {

using Bytes = std::vector<char>;

struct Said {
  std::map<std::string, Bytes> files;
  std::map<int, std::vector<std::string>> messages;
  int stop_at_message = -1, stop_at_file = 0;

  std::string error() const {
    const auto found = messages.find(RNNP_COMPILE_ERROR);
    return found == messages.end() ? "" : found->second.at(0);
  }
};

int take(void *user, const char *path, const void *bytes, size_t size) {
  auto *said = static_cast<Said *>(user);
  const char *data = static_cast<const char *>(bytes);
  said->files[path] = Bytes(data, data + size);
  return said->stop_at_file;
}

int hear(void *user, rnnp_compile_message kind, const char *text) {
  auto *said = static_cast<Said *>(user);
  said->messages[kind].emplace_back(text);
  return kind == said->stop_at_message;
}

Bytes bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const std::string kVad = RNNPACK_MODELS "/vad_gru/model.onnx";

rnnp_compile_status compiled(const Bytes &onnx, const std::vector<std::string> &options, Said *said) {
  std::vector<const char *> texts;
  for (const std::string &option : options) texts.push_back(option.c_str());
  return rnnp_compile(onnx.empty() ? nullptr : onnx.data(), onnx.size(), texts.data(), texts.size(), take, hear, said);
}

TEST(CompilerApi, GivesTheSameBlobForBytesAndForAFile) {
  Said bytes, file;
  ASSERT_EQ(compiled(bytes_of(kVad), {}, &bytes), RNNP_COMPILED) << bytes.error();
  ASSERT_EQ(compiled({}, {"model=" + kVad}, &file), RNNP_COMPILED) << file.error();
  ASSERT_EQ(bytes.files.size(), 1u);
  EXPECT_GT(bytes.files[""].size(), 1000u);
  EXPECT_EQ(bytes.files, file.files);
  EXPECT_EQ(bytes.messages[RNNP_COMPILE_SUMMARY].at(0).rfind("axes: ", 0), 0u);
  EXPECT_EQ(bytes.messages.count(RNNP_COMPILE_PROGRESS), 0u);
  EXPECT_EQ(rnnp_compiler_version(), RNNP_HEADER_VERSION);
}

TEST(CompilerApi, GivesEveryFileThatTheToolWrites) {
  Said said;
  ASSERT_EQ(compiled(bytes_of(kVad), {"output=a.rnnp", "emit-c=net", "report=r.json", "weights=int8", "incbin", "progress"}, &said),
            RNNP_COMPILED)
      << said.error();
  for (const char *name : {"a.rnnp", "net.c", "net.h", "net.S", "r.json"}) EXPECT_EQ(said.files.count(name), 1u) << name;
  EXPECT_EQ(said.files.size(), 5u);
  EXPECT_NE(said.messages[RNNP_COMPILE_REPORT].at(0).find("measured on"), std::string::npos);
  ASSERT_FALSE(said.messages[RNNP_COMPILE_PROGRESS].empty());
  const std::string last = said.messages[RNNP_COMPILE_PROGRESS].back();
  const size_t of = last.find(" of ");
  ASSERT_NE(of, std::string::npos);
  EXPECT_EQ(last.substr(0, of), last.substr(of + 4));
}

TEST(CompilerApi, KnowsEveryOptionOfTheTool) {
  rnnp::compiler::CompileArguments arguments;
  for (const rnnp::compiler::OptionRow &row : rnnp::compiler::compile_options(&arguments)) {
    const bool flag = std::holds_alternative<bool *>(row.to);
    Said wrong;
    EXPECT_EQ(compiled(bytes_of(kVad), {flag ? row.key() + "=1" : row.key()}, &wrong), RNNP_COMPILE_USAGE) << row.key();
    EXPECT_NE(wrong.error().find(row.key()), std::string::npos) << wrong.error();
  }
}

// As `rnnpack compile` hands on what its parser found.
TEST(CompilerApi, OptionsAreSaidAsTheyAreSet) {
  const std::map<std::string, std::vector<std::string>> kSaid = {
      {"model", {"model=a=b.onnx"}},  {"target", {"target="}},          {"meta", {"meta=a=b", "meta=c="}},
      {"quality", {"quality=0.375"}}, {"no-check", {"no-check"}},       {"chunk-steps", {"chunk-steps=7"}},
      {"winograd", {"winograd=off"}}, {"max-input", {"max-input=4096"}}};
  rnnp::compiler::CompileArguments arguments;
  const rnnp::compiler::OptionRows rows = rnnp::compiler::compile_options(&arguments);
  for (const rnnp::compiler::OptionRow &row : rows) {
    const auto said = kSaid.find(row.key());
    if (said == kSaid.end()) continue;
    for (const std::string &text : said->second) rnnp::compiler::set_option(rows, text);
    EXPECT_EQ(rnnp::compiler::set_texts(row), said->second);
  }
  const rnnp::compiler::OptionTable untouched = rnnp::compiler::compile_option_table();
  EXPECT_EQ(untouched.rows.size(), rows.size());
  for (const rnnp::compiler::OptionRow &row : untouched.rows) {
    const bool is_empty = row.key() == "no-check" || row.key() == "quality" || row.key() == "meta" || row.key() == "max-input";
    EXPECT_TRUE(!is_empty || rnnp::compiler::set_texts(row).empty()) << row.key();
  }
}

TEST(CompilerApi, RefusesWhatItIsGivenWrongly) {
  const std::vector<std::vector<std::string>> kWrong = {{"nonsense"},        {"targets=avx2"},        {"target=z80"},
                                                        {"chunk-steps=0"},   {"chunk-steps=2x"},      {"stream=99999999"},
                                                        {"winograd=maybe"},  {"accuracy-min=nan"},    {"dim=nothing=3"},
                                                        {"max-input=1 lot"}, {"max-input=99999999p"}, {"one-file"}};
  for (const auto &options : kWrong) {
    Said said;
    EXPECT_EQ(compiled(bytes_of(kVad), options, &said), RNNP_COMPILE_USAGE) << options[0];
    EXPECT_TRUE(said.files.empty());
    EXPECT_FALSE(said.error().empty());
  }
  Said said;
  EXPECT_EQ(compiled({}, {}, &said), RNNP_COMPILE_USAGE);
  EXPECT_EQ(rnnp_compile("x", 1, nullptr, 1, take, hear, &said), RNNP_COMPILE_USAGE);
  EXPECT_EQ(rnnp_compile("x", 1, nullptr, 0, nullptr, hear, &said), RNNP_COMPILE_USAGE);
  const char *const null_option[] = {nullptr};
  EXPECT_EQ(rnnp_compile("x", 1, null_option, 1, take, hear, &said), RNNP_COMPILE_USAGE);
  EXPECT_EQ(compiled({}, {"model=/nowhere/m.onnx"}, &said), RNNP_COMPILE_IO);
  EXPECT_EQ(rnnp_compile("x", 1, nullptr, 0, take, nullptr, &said), RNNP_COMPILE_REFUSED);
  EXPECT_TRUE(said.files.empty());
}

TEST(CompilerApi, SaysWhyAModelIsRefused) {
  Said refused;
  EXPECT_EQ(compiled(Bytes(100, 'x'), {}, &refused), RNNP_COMPILE_REFUSED);
  EXPECT_NE(refused.error().find("not an ONNX model"), std::string::npos) << refused.error();
}

TEST(CompilerApi, KeepsBackABlobThatMissesItsAccuracy) {
  Said said;
  EXPECT_EQ(compiled(bytes_of(kVad), {"weights=int4", "accuracy-min=200"}, &said), RNNP_COMPILE_UNVERIFIED);
  EXPECT_TRUE(said.files.empty());
  EXPECT_NE(said.error().find("accuracy-min"), std::string::npos);
}

TEST(CompilerApi, StopsWhereACallbackSaysSo) {
  for (const int kind : {RNNP_COMPILE_PROGRESS, RNNP_COMPILE_REPORT, RNNP_COMPILE_SUMMARY}) {
    Said other;
    other.stop_at_message = kind;
    EXPECT_EQ(compiled(bytes_of(kVad), {"weights=int8", "report=r", "progress"}, &other), RNNP_COMPILE_STOPPED) << kind;
    EXPECT_EQ(other.files.empty(), kind != RNNP_COMPILE_SUMMARY);
    EXPECT_EQ(other.messages[kind].size(), 1u);
    EXPECT_EQ(other.messages.count(RNNP_COMPILE_ERROR), 0u);
  }
  Said said;
  said.stop_at_file = 1;
  EXPECT_EQ(compiled(bytes_of(kVad), {"emit-c=net"}, &said), RNNP_COMPILE_STOPPED);
  EXPECT_EQ(said.files.size(), 1u);
}

// Two models, measured on two threads: each gives what it gives alone.
TEST(CompilerApi, TwoThreadsDoNotSeeEachOther) {
  const Bytes models[2] = {bytes_of(kVad), bytes_of(RNNPACK_MODELS "/kws_lstm/model.onnx")};
  const std::vector<std::string> kOptions[2] = {{"weights=int8", "report=r.json", "max-input=1MiB", "no-check"},
                                                {"target=avx2", "weights=int4", "report=r.json", "no-check"}};
  Said alone[2], together[2];
  for (size_t i = 0; i < 2; ++i) ASSERT_EQ(compiled(models[i], kOptions[i], &alone[i]), RNNP_COMPILED) << alone[i].error();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(compiled(models[i], kOptions[i], &together[i]), RNNP_COMPILED) << together[i].error();
        EXPECT_EQ(together[i].files, alone[i].files);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
