// panel_choice.h -- what the names of targets and of types of weights come to: panels of pack/panel_formats.inc.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_
#define RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_

#include <string>

#include "pack/panel_format.h"

namespace rnnp::compiler {

// How many units lie side by side in a target's panels, and the type of weights of a name. Throw UsageError, naming what is
// accepted.
uint32_t panel_width(const std::string &target);
DType weight_type(const std::string &name);

// Panels of so many units that keep every k; of id 0 where there are none.
PanelFormat dense_panels(DType weight, uint32_t nr);

// "generic, avx512, ..."; "f32, f16, ..."
std::string target_names();
std::string weight_type_names();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_
