// panel_choice.h -- which panels (pack/panel_formats.inc) a target and the asked types of weights come to.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_
#define RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_

#include <string>

#include "pack/panel_format.h"

namespace rnnp::compiler {

struct PanelChoice {
  PanelFormat weights;    // of all matrices but
  PanelFormat recurrent;  // R of recurrent layers
  PanelFormat plain;      // f32: of what has no kernels for others
};

// The types are names of weight_type_names(); an empty `recurrent` is `weights`. Throws UsageError, naming what is accepted.
PanelChoice choose_panels(const std::string &target, const std::string &weights, const std::string &recurrent);

// "generic, avx512, ..."; "f32, f16, ..."
std::string target_names();
std::string weight_type_names();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_PANEL_CHOICE_H_
