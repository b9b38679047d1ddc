// panel_choice.h -- what the names of targets and of types of weights come to: panels of pack/panel_formats.inc.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_
#define RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_

#include <string>

#include "compiler/ir/storage.h"
#include "pack/panel_format.h"

namespace rnnp::compiler {

struct WeightType {
  DType type;
  uint32_t group_k;         // of a type with a scale for each group of k; else 0
  bool full_range = false;  // int4: scales that give a group's largest weight, with its sign, the integer -8
};

// How many units lie side by side in a target's panels, and the type of weights of a name ("int4:64": with its group). Throw
// UsageError, naming what is accepted.
uint32_t panel_width(const std::string &target);
// Which of the dense panels of int8 its instructions multiply.
Scales byte_scales(const std::string &target);
// Whether sparse panels have vector kernels there; elsewhere they run in plain loops.
bool has_fast_blocks(const std::string &target);
WeightType weight_type(const std::string &name);
std::string weight_type_name(const WeightType &type);

// Panels of so many units for what is stored so; of id 0 where there are none. bytes: what dense int8 with a scale for each unit
// is.
PanelFormat panels_of(const Storage &storage, uint32_t nr, Scales bytes = Scales::kPerUnit);
// Those that keep every k.
PanelFormat dense_panels(DType weight, uint32_t nr);

// "generic, avx512, ..."; "f32, f16, ..., int4[:GROUP]"
std::string target_names();
std::string weight_type_names();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_
