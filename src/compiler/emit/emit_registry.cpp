// emit_registry.cpp -- Contract: emit_registry.h. Found by trial: whatever the library can do without when it plans the session is
// left out. So the operators' choice of kernels is written down once, in the operators.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/emit_registry.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/emit/refusal_text.h"
#include "compiler/onnx/problem.h"
#include "rnnpack/registry.h"

namespace rnnp::compiler {
namespace {

template <class T>
struct Named {
  const char *name;
  const T *object;
};

struct Choice {
  std::vector<Named<rnnp_op>> ops;
  std::vector<Named<rnnp_kernel_group>> groups;
};

Choice everything() {
  Choice c;
#define RNNP_NAMED(name) c.ops.push_back({"rnnp_op_" #name, &rnnp_op_##name});
  RNNP_FOR_EACH_OP(RNNP_NAMED)
#undef RNNP_NAMED
#define RNNP_NAMED(name) c.groups.push_back({"rnnp_kernels_" #name, &rnnp_kernels_##name});
  RNNP_FOR_EACH_KERNEL_GROUP(RNNP_NAMED)
#undef RNNP_NAMED
  return c;
}

template <class T>
std::vector<const T *> objects(const std::vector<Named<T>> &list) {
  std::vector<const T *> v;
  for (const Named<T> &n : list) v.push_back(n.object);
  return v;
}

// Of all sessions together; nothing where the choice does not suffice.
std::optional<uint64_t> session_bytes(const Choice &choice, const std::vector<RegistryUse> &uses) {
  const auto ops = objects(choice.ops);
  const auto groups = objects(choice.groups);
  if (ops.empty() || groups.empty()) return {};
  const rnnp_registry registry = {sizeof(rnnp_registry),
                                  static_cast<uint32_t>(ops.size()),
                                  static_cast<uint32_t>(groups.size()),
                                  ops.data(),
                                  groups.data(),
                                  &rnnp_check_dataflow,
                                  nullptr};
  uint64_t bytes = 0;
  for (const RegistryUse &use : uses) {
    rnnp_memory memory = RNNP_MEMORY_INIT;
    if (rnnp_session_memory_with(&registry, &use.model, &use.options, &memory) != RNNP_OK) return {};
    bytes += memory.session_bytes;
  }
  return bytes;
}

bool suffices(const Choice &choice, const std::vector<RegistryUse> &uses) {
  return session_bytes(choice, uses).has_value();
}

// Drop every element of `list`, a member of `choice`, that is not missed.
template <class T>
void thin_out(Choice *choice, std::vector<Named<T>> Choice::*list, const std::vector<RegistryUse> &uses) {
  for (size_t i = (choice->*list).size(); i-- > 0;) {
    Choice without = *choice;
    (without.*list).erase((without.*list).begin() + static_cast<std::ptrdiff_t>(i));
    if (suffices(without, uses)) *choice = without;
  }
}

// Sessions can do without it, but networks of few channels are faster by it; of those a session takes more memory.
void keep_channel_major(Choice *choice, const std::vector<RegistryUse> &uses) {
  Choice with = *choice;
  with.ops.push_back({"rnnp_op_conv_channel_major", &rnnp_op_conv_channel_major});
  const auto is_kernel = [](const Named<rnnp_kernel_group> &group) { return group.object == &rnnp_kernels_conv_nchw_f32; };
  if (std::none_of(with.groups.begin(), with.groups.end(), is_kernel))
    with.groups.push_back({"rnnp_kernels_conv_nchw_f32", &rnnp_kernels_conv_nchw_f32});
  if (session_bytes(with, uses) > session_bytes(*choice, uses)) *choice = with;
}

// Panels of 4 units are for CPUs without vectors.
bool has_vectors(const rnnp_model &model) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  return rnnp_model_get_info(&model, &facts) == RNNP_OK && facts.layout_nr > 4;
}

// act_plain is the smaller of two groups that may do, and reference code alone. Where the other has vectors it is to be the one
// that stays, and results have the bits of a session without a registry: what comes last is tried first.
void keep_act(Choice *choice) {
  std::stable_partition(choice->groups.begin(), choice->groups.end(),
                        [](const Named<rnnp_kernel_group> &group) { return group.object != &rnnp_kernels_act_plain_f32; });
}

template <class T>
std::vector<std::string> names_of(const std::vector<Named<T>> &list) {
  std::vector<std::string> names;
  for (const Named<T> &n : list) names.push_back(n.name);
  return names;
}

std::string array_text(const std::string &type, const std::string &array, const std::vector<std::string> &names,
                       const std::string &scope = "") {
  std::string text = "static const " + type + " *const " + array + "[] = {";
  for (size_t i = 0; i < names.size(); ++i) text += (i ? ", &" : "&") + scope + names[i];
  return text + "};\n";
}

// The blob is the registry's own: it is checked here and now.
std::vector<std::string> unchecked(std::vector<std::string> ops) {
  for (std::string &name : ops) name += "_unchecked";
  return ops;
}

// Throws what is in the way of a session that no registry can help.
void check_uses(const Choice &choice, const std::vector<RegistryUse> &uses) {
  if (suffices(choice, uses)) return;
  for (const RegistryUse &use : uses) {
    const std::string refusal = refusal_text(use.model, use.options);
    if (!refusal.empty()) throw ModelError(refusal);
  }
  throw ModelError("the library cannot run this blob");
}

// `rest`: the check, and the blob that needs none.
std::string definition(const std::string &name, const std::string &rest) {
  return "const rnnp_registry " + name +
         " = {sizeof(rnnp_registry), sizeof ops / sizeof ops[0], sizeof kernels / sizeof kernels[0], ops, kernels, " + rest +
         "};\n";
}

}  // namespace

std::vector<rnnp_session_options> every_kind_of_session(const rnnp_model &model) {
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  if (rnnp_model_get_info(&model, &facts) != RNNP_OK) throw IoError("the model is not opened");
  std::vector<rnnp_session_options> all;
  for (const uint32_t batch : {1u, 8u}) {
    for (const uint32_t steps : {1u, 16u}) {  // each layer's input by itself, or in its recurrent kernel
      rnnp_session_options o = RNNP_SESSION_OPTIONS_INIT;
      o.max_batch = facts.fixed_batch != 0 ? facts.fixed_batch : batch;
      o.chunk_steps = steps;
      o.max_steps = facts.causal ? 0 : steps;
      o.flags = RNNP_SESSION_PORTABLE_OPS;
      all.push_back(o);
    }
  }
  return all;
}

RegistryNames registry_names(const std::vector<RegistryUse> &uses) {
  Choice choice = everything();
  check_uses(choice, uses);
  thin_out(&choice, &Choice::ops, uses);
  if (std::any_of(uses.begin(), uses.end(), [](const RegistryUse &use) { return has_vectors(use.model); })) keep_act(&choice);
  thin_out(&choice, &Choice::groups, uses);
  keep_channel_major(&choice, uses);
  return {names_of(choice.ops), names_of(choice.groups)};
}

std::string registry_text(const RegistryNames &names, const std::string &name) {
  return array_text("rnnp_op", "ops", unchecked(names.ops)) + array_text("rnnp_kernel_group", "kernels", names.groups) +
         definition(name + "_registry", "NULL, " + name);
}

std::string default_registry_text(const RegistryNames &names) {
  const std::string version = std::to_string(RNNP_HEADER_VERSION);
  return "/* What some models need of the rnnpack library. Made by `rnnpack registry`: compiled into a program that links the "
         "archive\n"
         " * with --gc-sections, it is all of the library's operators and kernels that is linked (rnnpack/registry.h). */\n"
         "#include <rnnpack/registry.h>\n\n#if RNNP_HEADER_VERSION != " +
         version + "u\n#error \"made for another version of rnnpack: run `rnnpack registry` of this one\"\n#endif\n\n" +
         array_text("rnnp_op", "ops", names.ops) + array_text("rnnp_kernel_group", "kernels", names.groups) +
         definition("rnnp_default_registry", "&rnnp_check_dataflow, NULL");
}

std::string one_file_registry_text(const RegistryNames &names, const std::string &name) {
  const std::string ops = name + "_ops", kernels = name + "_kernels";
  const std::string value = " = {sizeof(rnnp_registry), sizeof " + ops + " / sizeof " + ops + "[0], sizeof " + kernels +
                            " / sizeof " + kernels + "[0],\n  reinterpret_cast<const rnnp_op *const *>(" + ops +
                            "), reinterpret_cast<const rnnp_kernel_group *const *>(" + kernels + "), nullptr, " + name + "};\n";
  return array_text("rnnp::Op", ops, unchecked(names.ops), "rnnp::") +
         array_text("rnnp::KernelList", kernels, names.groups, "rnnp::") + "const rnnp_registry " + name + "_registry" + value +
         "const rnnp_registry rnnp_default_registry" + value;
}

}  // namespace rnnp::compiler
