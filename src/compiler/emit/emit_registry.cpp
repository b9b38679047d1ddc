// emit_registry.cpp -- Contract: emit_registry.h. Found by trial: whatever the library can do without when it plans the session is
// left out. So the operators' choice of kernels is written down once, in the operators.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/emit_registry.h"

#include <algorithm>
#include <vector>

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

bool suffices(const Choice &choice, const rnnp_model &model, const rnnp_session_options &options) {
  const auto ops = objects(choice.ops);
  const auto groups = objects(choice.groups);
  if (ops.empty() || groups.empty()) return false;
  const rnnp_registry registry = {sizeof(rnnp_registry), static_cast<uint32_t>(ops.size()), static_cast<uint32_t>(groups.size()),
                                  ops.data(), groups.data()};
  rnnp_memory memory = RNNP_MEMORY_INIT;
  return rnnp_session_memory_with(&registry, &model, &options, &memory) == RNNP_OK;
}

// Drop every element of `list`, a member of `choice`, that is not missed.
template <class T>
void thin_out(Choice *choice, std::vector<Named<T>> Choice::*list, const rnnp_model &model, const rnnp_session_options &options) {
  for (size_t i = (choice->*list).size(); i-- > 0;) {
    Choice without = *choice;
    (without.*list).erase((without.*list).begin() + static_cast<std::ptrdiff_t>(i));
    if (suffices(without, model, options)) *choice = without;
  }
}

// Panels of 4 units are for CPUs without vectors.
bool has_vectors(const rnnp_model &model) {
  rnnp_model_facts facts = RNNP_MODEL_FACTS_INIT;
  return rnnp_model_info(&model, &facts) == RNNP_OK && facts.layout_nr > 4;
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

}  // namespace

RegistryNames registry_names(const rnnp_model &model, const rnnp_session_options &options) {
  Choice choice = everything();
  if (!suffices(choice, model, options)) throw ModelError("the library cannot run this blob");
  thin_out(&choice, &Choice::ops, model, options);
  if (has_vectors(model)) keep_act(&choice);
  thin_out(&choice, &Choice::groups, model, options);
  return {names_of(choice.ops), names_of(choice.groups)};
}

std::string registry_text(const RegistryNames &names, const std::string &name) {
  return array_text("rnnp_op", "ops", names.ops) + array_text("rnnp_kernel_group", "kernels", names.groups) +
         "const rnnp_registry " + name +
         "_registry = {sizeof(rnnp_registry), sizeof ops / sizeof ops[0], sizeof kernels / sizeof kernels[0], ops, kernels};\n";
}

std::string one_file_registry_text(const RegistryNames &names, const std::string &name) {
  return array_text("rnnp::Op", name + "_ops", names.ops, "rnnp::") +
         array_text("rnnp::KernelList", name + "_kernels", names.groups, "rnnp::") + "const rnnp_registry " + name +
         "_registry = {sizeof(rnnp_registry), sizeof " + name + "_ops / sizeof " + name + "_ops[0], sizeof " + name +
         "_kernels / sizeof " + name + "_kernels[0],\n  reinterpret_cast<const rnnp_op *const *>(" + name +
         "_ops), reinterpret_cast<const rnnp_kernel_group *const *>(" + name + "_kernels)};\n\n" +
         "rnnp_status rnnp_session_memory(const rnnp_model *model, const rnnp_session_options *options, rnnp_memory *memory) {\n"
         "  return rnnp_session_memory_with(&" +
         name +
         "_registry, model, options, memory);\n}\n\n"
         "rnnp_status rnnp_session_init(rnnp_session **session, const rnnp_model *model, const rnnp_session_options *options, "
         "void *mem,\n                              size_t bytes) {\n  return rnnp_session_init_with(&" +
         name + "_registry, session, model, options, mem, bytes);\n}\n";
}

}  // namespace rnnp::compiler
