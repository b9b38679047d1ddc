// compiler.cpp -- Contract: rnnpack/compiler.h. Every exception ends here.
// SPDX-License-Identifier: Apache-2.0
#include "rnnpack/compiler.h"

#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <system_error>

#include "compiler/job/compile_job.h"
#include "compiler/onnx/errors.h"

namespace {

using namespace rnnp::compiler;

constexpr const char *kUnexpected = "an error nobody expected, of a damaged file or of rnnpack: ";

// Not of std::exception: nothing on the way takes it for an error of the model.
struct Stopped {};

class Caller {
 public:
  Caller(rnnp_compile_sink sink, rnnp_compile_listener listener, void *user) : sink_(sink), listener_(listener), user_(user) {}

  void say(rnnp_compile_message kind, std::string text) const {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (listener_ != nullptr && listener_(user_, kind, text.c_str()) != 0) throw Stopped();
  }
  void give(const MadeFile &file) const {
    if (sink_(user_, file.path.c_str(), file.bytes.data(), file.bytes.size()) != 0) throw Stopped();
  }
  rnnp_compile_status fail(rnnp_compile_status status, const char *why) const noexcept {
    if (listener_ != nullptr) listener_(user_, RNNP_COMPILE_ERROR, why);
    return status;
  }

 private:
  const rnnp_compile_sink sink_;
  const rnnp_compile_listener listener_;
  void *const user_;
};

Listener listener_of(const Caller &caller, const CompileArguments &arguments) {
  Listener listener;
  listener.say = [&caller](MessageKind kind, const std::string &text) {
    caller.say(kind == MessageKind::kReport ? RNNP_COMPILE_REPORT : RNNP_COMPILE_NOTE, text);
  };
  if (arguments.progress) {
    listener.progress = [&caller](size_t done, size_t all) {
      caller.say(RNNP_COMPILE_PROGRESS, std::to_string(done) + " of " + std::to_string(all));
    };
  }
  return listener;
}

struct OnnxBytes {
  const void *data;
  size_t size;
};

void compile(OnnxBytes onnx, const char *const *options, size_t option_count, const Caller &caller) {
  CompileArguments arguments;
  const OptionRows rows = compile_options(&arguments);
  for (size_t i = 0; i < option_count; ++i) {
    if (options[i] == nullptr) throw UsageError("option " + std::to_string(i) + " is NULL");
    set_option(rows, options[i]);
  }
  if (onnx.data == nullptr && (onnx.size != 0 || arguments.model.empty()))
    throw UsageError("there is no model: give its bytes, or the option model=FILE");
  CompileResult made = run_compile(arguments, onnx.data, onnx.size, listener_of(caller, arguments));
  for (MadeFile &file : made.files) {
    caller.give(file);
    std::vector<uint8_t>().swap(file.bytes);
  }
  std::istringstream lines(made.summary);
  for (std::string line; std::getline(lines, line);) caller.say(RNNP_COMPILE_SUMMARY, line);
}

}  // namespace

extern "C" rnnp_compile_status rnnp_compile(const void *onnx, size_t onnx_bytes, const char *const *options, size_t option_count,
                                            rnnp_compile_sink sink, rnnp_compile_listener listener, void *user) {
  const Caller caller(sink, listener, user);
  if (sink == nullptr) return caller.fail(RNNP_COMPILE_USAGE, "there is no sink for the blob");
  if (options == nullptr && option_count != 0) return caller.fail(RNNP_COMPILE_USAGE, "options are NULL, and their count is not 0");
  try {
    compile({onnx, onnx_bytes}, options, option_count, caller);
    return RNNP_COMPILED;
  } catch (const Stopped &) {
    return RNNP_COMPILE_STOPPED;
  } catch (const UsageError &error) {
    return caller.fail(RNNP_COMPILE_USAGE, error.what());
  } catch (const ModelError &error) {
    return caller.fail(RNNP_COMPILE_REFUSED, (std::string("the model is refused:\n") + error.what()).c_str());
  } catch (const IoError &error) {
    return caller.fail(RNNP_COMPILE_IO, error.what());
  } catch (const VerifyError &error) {
    return caller.fail(RNNP_COMPILE_UNVERIFIED, error.what());
  } catch (const std::bad_alloc &) {
    return caller.fail(RNNP_COMPILE_IO, "out of memory");
  } catch (const std::system_error &error) {
    return caller.fail(RNNP_COMPILE_IO, error.what());
  } catch (const Refusal &error) {
    return caller.fail(RNNP_COMPILE_REFUSED, error.what());
  } catch (const std::exception &error) {
    return caller.fail(RNNP_COMPILE_REFUSED, (std::string(kUnexpected) + error.what()).c_str());
  }
}

extern "C" uint32_t rnnp_compiler_version(void) {
  return RNNP_HEADER_VERSION;
}
