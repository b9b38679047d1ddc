// network_table.h -- the published networks that the tests know: the file, what is fixed when it is compiled, and which entries of
// the golden file are its inputs, outputs and states. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_NETWORKS_NETWORK_TABLE_H_
#define RNNPACK_TESTS_NETWORKS_NETWORK_TABLE_H_

#include <string>
#include <vector>

#include "compiler/ir/tie_states.h"

namespace rnnp::networks {

struct Named {
  const char *tensor, *golden;  // a name in the ONNX file and an entry of the golden file
};

struct Network {
  const char *name, *file, *golden;
  std::vector<Named> inputs, outputs;
  std::vector<compiler::StatePair> states;
  std::vector<Named> initial;  // states that do not start from zeros
  std::vector<Named> numbers;  // inputs that are numbers: name, value
  std::vector<Named> shapes;   // sizes of an input's open dimensions, as --shape takes them
};

inline const std::vector<Network> &networks() {
  static const std::vector<Network> kNetworks = {
      {"rnnoise_2019",
       "rnnoise_2019/model.onnx",
       "rnnoise_2019_100frames.npz",
       {{"features", "features"}},
       {{"gains", "gains"},
        {"vad", "vad"},
        {"h_vad_gru_out", "h_vad_gru_out"},
        {"h_noise_gru_out", "h_noise_gru_out"},
        {"h_denoise_gru_out", "h_denoise_gru_out"}},
       {{"h_vad_gru", "h_vad_gru_out"}, {"h_noise_gru", "h_noise_gru_out"}, {"h_denoise_gru", "h_denoise_gru_out"}},
       {},
       {},
       {}},
      {"nsnet2",
       "nsnet2/nsnet2_rebuilt.onnx",
       "nsnet2_100frames.npz",
       {{"x", "x"}},
       {{"y", "y"}, {"h1n", "h1n"}, {"h2n", "h2n"}},
       {{"h1", "h1n"}, {"h2", "h2n"}},
       {},
       {},
       {}},
      {"kws_basic_lstm_s_no",
       "kws_basic_lstm_s/model.onnx",
       "kws_basic_lstm_s_no.npz",
       {{"mfcc", "mfcc"}},
       {{"prob", "prob"}},
       {},
       {},
       {},
       {}},
      {"kws_basic_lstm_s_yes",
       "kws_basic_lstm_s/model.onnx",
       "kws_basic_lstm_s_yes.npz",
       {{"mfcc", "mfcc"}},
       {{"prob", "prob"}},
       {},
       {},
       {},
       {}},
      {"kws_gru_s_no", "kws_gru_s/model.onnx", "kws_gru_s_no.npz", {{"mfcc", "mfcc"}}, {{"prob", "prob"}}, {}, {}, {}, {}},
      {"kws_gru_s_yes", "kws_gru_s/model.onnx", "kws_gru_s_yes.npz", {{"mfcc", "mfcc"}}, {{"prob", "prob"}}, {}, {}, {}, {}},
      {"nam_boss_lstm_1x16",
       "nam_boss_lstm_1x16/model.onnx",
       "nam_boss_lstm_1x16_4800.npz",
       {{"x", "x"}},
       {{"y", "y"}, {"h0_out", "h0_out"}, {"c0_out", "c0_out"}},
       {{"h0", "h0_out"}, {"c0", "c0_out"}},
       {{"h0", "h0_in"}, {"c0", "c0_in"}},
       {},
       {}},
      {"nam_boss_lstm_2x8",
       "nam_boss_lstm_2x8/model.onnx",
       "nam_boss_lstm_2x8_4800.npz",
       {{"x", "x"}},
       {{"y", "y"}, {"h0_out", "h0_out"}, {"c0_out", "c0_out"}, {"h1_out", "h1_out"}, {"c1_out", "c1_out"}},
       {{"h0", "h0_out"}, {"c0", "c0_out"}, {"h1", "h1_out"}, {"c1", "c1_out"}},
       {{"h0", "h0_in"}, {"c0", "c0_in"}, {"h1", "h1_in"}, {"c1", "c1_in"}},
       {},
       {}},
      {"namcore_lstm_h3",
       "namcore_lstm_h3/model.onnx",
       "namcore_lstm_h3_4800.npz",
       {{"x", "x"}},
       {{"y", "y"}, {"h0_out", "h0_out"}, {"c0_out", "c0_out"}},
       {{"h0", "h0_out"}, {"c0", "c0_out"}},
       {{"h0", "h0_in"}, {"c0", "c0_in"}},
       {},
       {}},
      {"dtln_1",
       "dtln/model_1.onnx",
       "dtln_200blocks.npz",
       {{"input_2", "m1_in"}},
       {{"activation_2", "m1_mask"}, {"tf_op_layer_stack_2", "m1_state_final"}},
       {{"input_3", "tf_op_layer_stack_2"}},
       {},
       {},
       {}},
      {"rtneural_full_model",
       "rtneural_full_model/model.onnx",
       "rtneural_full_model_500.npz",
       {{"x", "x"}},
       {{"y", "y"}},
       {},
       {},
       {},
       {}},
  };
  return kNetworks;
}

}  // namespace rnnp::networks
#endif  // RNNPACK_TESTS_NETWORKS_NETWORK_TABLE_H_
