// nam_wavenet_config.h -- what a .nam file says about one array of WaveNet layers, with every default filled in.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_NAM_NAM_WAVENET_CONFIG_H_
#define RNNPACK_COMPILER_NAM_NAM_WAVENET_CONFIG_H_

#include <string>
#include <vector>

#include "compiler/json/json_value.h"
#include "compiler/nam/nam_graph.h"

namespace rnnp::compiler {

enum class NamGating { kNone, kGated, kBlended };

struct NamFilm {
  bool active = false, shift = true;
  int64_t groups = 1;
};

struct NamOneByOne {
  bool active = false;
  int64_t out = 1, groups = 1;
};

struct NamLayerKind {
  int64_t taps = 1, dilation = 1;
  NamActivation activation, secondary;
  NamGating gating = NamGating::kNone;
};

struct NamLayerArray {
  int64_t inputs = 1, condition = 1, channels = 1, bottleneck = 1, input_groups = 1, mixin_groups = 1, next_groups = 1;
  int64_t head_out = 1, head_taps = 1;
  bool head_bias = false;
  NamOneByOne head;  // next_groups: of the convolution to the next layer
  NamFilm conv_pre, conv_post, mixin_pre, mixin_post, activation_pre, activation_post, next_post, head_post;
  std::vector<NamLayerKind> layers;
  int64_t head_channels() const { return head.active ? head.out : bottleneck; }
};

// Throws ModelError, also for members that it does not know: they would change what the network computes.
NamLayerArray nam_layer_array(const JsonValue &json);
NamActivation nam_activation(const JsonValue &json);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_NAM_NAM_WAVENET_CONFIG_H_
