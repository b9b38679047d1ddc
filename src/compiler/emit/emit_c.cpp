// emit_c.cpp -- Contract: emit_c.h. The session's size is asked of the library itself, for the options that NAME_options sets.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/emit_c.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "compiler/emit/emit_registry.h"
#include "compiler/emit/narrow_session.h"
#include "compiler/emit/one_file.h"
#include "compiler/emit/source_package.h"
#include "compiler/emit/upper.h"
#include "compiler/files/files.h"
#include "compiler/onnx/problem.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

struct Sizes {
  rnnp_memory memory = RNNP_MEMORY_INIT;
  size_t narrow_bytes = 0, one_thread_bytes = 0;  // of the session where pointers have 4 bytes: with threads, without
  rnnp_session_options options;
  RegistryNames registry;
  std::string tensors;
};

// One line: the elements of a row, and in words what the tensor is.
std::string tensor_text(const rnnp_model &model, rnnp_status (*ask)(const rnnp_model *, uint32_t, rnnp_tensor_info *),
                        const std::string &name, const std::string &kind, uint32_t index) {
  rnnp_tensor_info facts{};
  facts.struct_bytes = sizeof facts;
  if (ask(&model, index, &facts) != RNNP_OK) throw ModelError("the library does not describe its tensors");
  const char *rows[] = {"each step and batch row", "each batch row", "each batch row: initial state, or NULL",
                        "each batch row: its steps, or NULL"};
  std::string onnx_name = facts.name;  // ends no comment
  for (size_t at = onnx_name.find("*/"); at != std::string::npos; at = onnx_name.find("*/")) onnx_name[at] = '?';
  return "#define " + upper(name) + "_" + kind + std::to_string(index) + "_ELEMS " + std::to_string(facts.row_elems) + "u /* " +
         onnx_name + ", " + (facts.dtype == RNNP_DTYPE_I32 ? "int32_t" : "float") + ", of " + rows[facts.role] + " */\n";
}

Sizes ask_sizes(const std::vector<uint8_t> &blob, const std::string &name, const CSourceOptions &options) {
  AlignedBytes aligned(blob.size(), 64);
  std::memcpy(aligned.data(), blob.data(), blob.size());
  rnnp_model model;
  Sizes sizes{};
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  rnnp_status status = rnnp_model_open(&model, aligned.data(), blob.size(), 0);
  if (status == RNNP_OK) status = rnnp_model_get_info(&model, &facts);
  if (status == RNNP_OK) sizes.options = emitted_session_options(facts, options);
  if (status == RNNP_OK) status = rnnp_session_memory(&model, &sizes.options, &sizes.memory);
  if (status != RNNP_OK) throw ModelError(std::string("the library cannot run this blob: ") + rnnp_status_string(status));
  sizes.narrow_bytes = narrow_session_bytes(model, sizes.options, false);
  sizes.one_thread_bytes = narrow_session_bytes(model, sizes.options, true);
  // Here for good: the program's registry does not check its own blob again.
  AlignedBytes session_memory(sizes.memory.session_bytes, sizes.memory.alignment);
  rnnp_session *session = nullptr;
  status = rnnp_session_init(&session, &model, &sizes.options, session_memory.data(), session_memory.size());
  if (status != RNNP_OK) throw ModelError(std::string("the library cannot run this blob: ") + rnnp_status_string(status));
  sizes.registry = registry_names({{model, sizes.options}});
  for (uint32_t i = 0; i < facts.input_count; ++i) sizes.tensors += tensor_text(model, rnnp_model_get_input, name, "INPUT", i);
  for (uint32_t i = 0; i < facts.output_count; ++i) sizes.tensors += tensor_text(model, rnnp_model_get_output, name, "OUTPUT", i);
  return sizes;
}

std::string identifier(const std::string &path, bool cpp) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  const bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && !is_taken_name(name, cpp) &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!valid)
    throw UsageError("--emit-c " + quote(name) +
                     " is not a C identifier, or one that is taken; accepted: a path whose last part is one, e.g. build/detector");
  return name;
}

std::string replace_all(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

constexpr const char *kHeader = R"(/* @name@.h -- a compiled model for the rnnpack library. Made by `rnnpack compile --emit-c`.
 *
 *   static uint8_t memory[@NAME@_SESSION_BYTES] __attribute__((aligned(@NAME@_ALIGN)));
 *   rnnp_model model;
 *   rnnp_session *session;
 *   rnnp_session_options options;
 *   @name@_options(&options);
 *   if (rnnp_model_open_with(&@name@_registry, &model) == RNNP_OK &&
 *       rnnp_session_init_with(&@name@_registry, &session, &model, &options, memory, sizeof memory) == RNNP_OK) {
 *     rnnp_run(session, steps, x, y);
 *   }
 *
 * @about@
 * The sizes are for the options that @name@_options sets; for others ask rnnp_session_memory. */
#ifndef @NAME@_H_
#define @NAME@_H_

@api@#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if RNNP_HEADER_VERSION != @version@u
#error "@name@ was compiled for another version of rnnpack, which needs other memory: run `rnnpack compile --emit-c` of this one"
#endif

/* Sizes are for pointers of at most 8 bytes. */
typedef char @name@_has_room_for_pointers[sizeof(void *) <= 8 ? 1 : -1];

#define @NAME@_BYTES @bytes@u         /* of the blob */
#define @NAME@_ALIGN @align@u         /* of the session's memory */
/* Exact; a library for one thread on 64 bits needs no more. Cortex-M is one core: the library's RNNPACK_MANY_THREADS, or
 * RNNPACK_ONE_THREAD elsewhere, must be defined for this file, too. */
#if UINTPTR_MAX > 0xffffffffu
#define @NAME@_SESSION_BYTES @session@u
#elif defined(RNNPACK_ONE_THREAD) || (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(RNNPACK_MANY_THREADS))
#define @NAME@_SESSION_BYTES @one_thread@u
#else
#define @NAME@_SESSION_BYTES @narrow@u
#endif
#define @NAME@_STATE_BYTES @state@u   /* of rnnp_state_save, per batch row */
@tensors@
extern const uint8_t @name@[@NAME@_BYTES];
extern const rnnp_registry @name@_registry;

/* The options that @NAME@_SESSION_BYTES is for. Change none that takes memory: max_batch, max_steps, chunk_steps, executor, flags,
 * l1d_bytes, l2_bytes, l3_bytes. */
static inline void @name@_options(rnnp_session_options *options) {
  rnnp_session_options_init(options, sizeof *options);
  options->max_batch = @batch@;
  options->max_steps = @max_steps@;
  options->chunk_steps = @chunk_steps@;
  options->flags = RNNP_SESSION_PORTABLE_OPS;
  options->l1d_bytes = options->l2_bytes = options->l3_bytes = RNNP_CACHE_NONE;
}

#ifdef __cplusplus
}
#endif
#endif /* @NAME@_H_ */
)";

constexpr const char *kLinked =
    "The registry names what this model needs: linked with --gc-sections, nothing else of the library is (rnnpack/registry.h). It "
    "is\n"
    " * for this blob alone, which the tool has checked: another one answers RNNP_E_ARG.";
constexpr const char *kOneFile =
    "@name@.cpp holds the library as well (Apache-2.0): compile it as C++17 with the CPU's flags, and -fno-exceptions where there "
    "is\n"
    " * no C++ runtime; there is nothing to link. rnnp_session_init does as well as rnnp_session_init_with. One such file per "
    "program;\n"
    " * for several models see `rnnpack sources`.";

// `%` is what every ELF target's assembler takes before a type.
constexpr const char *kAssembly =
    R"(/* @name@.S -- the array of @name@.h, read from the blob's file. Made by `rnnpack compile --emit-c --incbin`.
 * The assembler looks for the file where it runs, and in the folders of -Wa,-I. */
#ifndef @NAME@_BLOB_FILE
#define @NAME@_BLOB_FILE "@file@"
#endif
  .section .rodata.@name@, "a", %progbits
  .global @name@
  .type @name@, %object
  .p2align 6
@name@:
  .incbin @NAME@_BLOB_FILE
.L@name@_end:
  .size @name@, .L@name@_end - @name@
  .if (.L@name@_end - @name@) - @bytes@
  .error "the file has another size than the blob that @name@.h is of: write both anew"
  .endif
#ifdef __linux__
  .section .note.GNU-stack, "", %progbits
#endif
)";

std::string array_text(const std::vector<uint8_t> &blob) {
  std::string text;
  text.reserve(blob.size() * 4 + blob.size() / 20);
  for (size_t i = 0; i < blob.size(); ++i) {
    text += std::to_string(blob[i]);
    text += i + 1 == blob.size() ? "" : i % 32 == 31 ? ",\n  " : ",";
  }
  return text;
}

}  // namespace

bool is_taken_name(const std::string &name, bool cpp) {
  constexpr const char *kWords =
      " auto break case char const continue default do double else enum extern float for goto if inline int long register restrict "
      "return short signed sizeof static struct switch typedef union unsigned void volatile while main ";
  constexpr const char *kWordsOfCpp =
      " alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield compl "
      "concept "
      "const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend mutable namespace new "
      "noexcept "
      "not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert static_cast template "
      "this "
      "thread_local throw true try typeid typename using virtual wchar_t xor xor_eq ";
  const auto among = [&](const char *words) { return std::string(words).find(" " + name + " ") != std::string::npos; };
  return among(kWords) || (cpp && among(kWordsOfCpp)) || name == "rnnp" || name.compare(0, 5, "rnnp_") == 0;
}

rnnp_session_options emitted_session_options(const rnnp_model_info &facts, const CSourceOptions &options) {
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  if (facts.fixed_batch) o.max_batch = facts.fixed_batch;
  o.max_steps = facts.causal ? 0 : options.max_steps;
  o.chunk_steps = options.chunk_steps;
  o.flags = RNNP_SESSION_PORTABLE_OPS;
  o.l1d_bytes = o.l2_bytes = o.l3_bytes = RNNP_CACHE_NONE;
  return o;
}

CSource emit_c(const std::vector<uint8_t> &blob, const std::string &path, const CSourceOptions &options) {
  const std::string name = identifier(path, options.one_file);
  const Sizes sizes = ask_sizes(blob, name, options);
  CSource out;
  out.header = kHeader;
  if (!options.incbin.empty()) out.assembly = kAssembly;
  const std::pair<const char *, std::string> fields[] = {
      {"@api@", options.one_file ? public_headers_text() : "#include <rnnpack/registry.h>\n"},
      {"@about@", options.one_file ? kOneFile : kLinked},
      {"@tensors@", sizes.tensors},
      {"@batch@", std::to_string(sizes.options.max_batch)},
      {"@max_steps@", std::to_string(sizes.options.max_steps)},
      {"@chunk_steps@", std::to_string(sizes.options.chunk_steps)},
      {"@bytes@", std::to_string(blob.size())},
      {"@align@", std::to_string(sizes.memory.alignment)},
      {"@narrow@", std::to_string(sizes.narrow_bytes)},
      {"@one_thread@", std::to_string(sizes.one_thread_bytes)},
      {"@session@", std::to_string(sizes.memory.session_bytes)},
      {"@file@", options.incbin.substr(options.incbin.find_last_of('/') + 1)},
      {"@version@", std::to_string(RNNP_HEADER_VERSION)},
      {"@state@", std::to_string(sizes.memory.state_bytes)},
      {"@name@", name},
      {"@NAME@", upper(name)},
  };
  for (const auto &field : fields) {
    out.header = replace_all(out.header, field.first, field.second);
    out.assembly = replace_all(out.assembly, field.first, field.second);
  }
  const std::string array = !options.incbin.empty() ? ""
                                                    : "__attribute__((aligned(64))) const uint8_t " + name + "[" + upper(name) +
                                                          "_BYTES] = {\n  " + array_text(blob) + "};\n\n";
  const std::string head = "/* " + name + (options.one_file ? ".cpp" : ".c") + " -- see " + name + ".h. */\n" +
                           (options.one_file ? language_guard() : "") + "#include \"" + name + ".h\"\n\n";
  out.code = head + (options.one_file ? library_text(sizes.registry.ops, sizes.registry.groups) + array +
                                            one_file_registry_text(sizes.registry, name)
                                      : array + registry_text(sizes.registry, name));
  return out;
}

}  // namespace rnnp::compiler
