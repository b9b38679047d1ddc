// json_files_test.cpp -- RTNeural, AIDA-X, GuitarML and PyTorch state_dicts as JSON against plain loops in f64, and what is refused
// with which words. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "model_of.h"

namespace rnnp::testing_support {
namespace json_files_test {

constexpr size_t kHidden = 3, kSteps = 40;

double logistic(double v) {
  return 1 / (1 + std::exp(-v));
}

// A recurrent layer of one feature and a dense layer of one output.
struct SmallNet {
  Floats kernel, recurrent, bias, dense, dense_bias;
  explicit SmallNet(size_t gates, size_t bias_rows = 1)
      : kernel(random_numbers(gates * kHidden, 0.8f, 1)),
        recurrent(random_numbers(kHidden * gates * kHidden, 0.6f, 2)),
        bias(random_numbers(bias_rows * gates * kHidden, 0.4f, 3)),
        dense(random_numbers(kHidden, 0.9f, 4)),
        dense_bias(random_numbers(1, 0.5f, 5)) {}

  std::string weights(size_t gates) const {
    return "[" + rows_of(kernel, gates * kHidden) + ", " + rows_of(recurrent, gates * kHidden) + ", " +
           (bias.size() > gates * kHidden ? rows_of(bias, gates * kHidden) : list_of(bias)) + "]";
  }
  std::string rtneural(const std::string &type, size_t gates, const std::string &more = "") const {
    return "{\"in_shape\": [null, null, 1], " + more + "\"layers\": [{\"type\": \"" + type +
           "\", \"activation\": \"tanh\", \"shape\": [null, null, 3], \"weights\": " + weights(gates) +
           "}, {\"type\": \"dense\", \"activation\": \"\", \"shape\": [null, null, 1], \"weights\": [" + rows_of(dense, 1) + ", " +
           list_of(dense_bias) + "]}]}";
  }

  // Of gate g at unit u: of x, of h, in the layout of Keras.
  double in(size_t gates, size_t g, size_t u, double x) const { return x * double(kernel[(g * kHidden + u) % (gates * kHidden)]); }
  double over(size_t gates, size_t g, size_t u, const Doubles &h) const {
    double sum = 0;
    for (size_t k = 0; k < kHidden; ++k) sum += h[k] * double(recurrent[k * gates * kHidden + g * kHidden + u]);
    return sum;
  }
  double b(size_t row, size_t gates, size_t g, size_t u) const { return double(bias[row * gates * kHidden + g * kHidden + u]); }
  double out(const Doubles &h) const {
    double sum = double(dense_bias[0]);
    for (size_t k = 0; k < kHidden; ++k) sum += h[k] * double(dense[k]);
    return sum;
  }

  // Gates i f c o.
  Doubles lstm(const Floats &input) const {
    Doubles h(kHidden), c(kHidden), y;
    for (const float x : input) {
      Doubles next(kHidden);
      for (size_t u = 0; u < kHidden; ++u) {
        const auto sum = [&](size_t g) { return in(4, g, u, double(x)) + over(4, g, u, h) + b(0, 4, g, u); };
        c[u] = logistic(sum(1)) * c[u] + logistic(sum(0)) * std::tanh(sum(2));
        next[u] = logistic(sum(3)) * std::tanh(c[u]);
      }
      h = next;
      y.push_back(out(h));
    }
    return y;
  }

  // Gates z r h, the reset gate behind the product.
  Doubles gru(const Floats &input) const {
    Doubles h(kHidden), y;
    for (const float x : input) {
      Doubles next(kHidden);
      for (size_t u = 0; u < kHidden; ++u) {
        const auto x_part = [&](size_t g) { return in(3, g, u, double(x)) + b(0, 3, g, u); };
        const auto h_part = [&](size_t g) { return over(3, g, u, h) + b(1, 3, g, u); };
        const double z = logistic(x_part(0) + h_part(0)), r = logistic(x_part(1) + h_part(1));
        next[u] = z * h[u] + (1 - z) * std::tanh(x_part(2) + r * h_part(2));
      }
      h = next;
      y.push_back(out(h));
    }
    return y;
  }
};

TEST(JsonFiles, LayersOfRtneuralAreThoseOfKeras) {
  const Floats x = random_numbers(kSteps, 1, 9);
  const SmallNet lstm(4), gru(3, 2);
  EXPECT_LT(largest_difference(outputs_of(lstm.rtneural("lstm", 4), x), lstm.lstm(x)), 1e-6);
  EXPECT_LT(largest_difference(outputs_of(gru.rtneural("gru", 3), x), gru.gru(x)), 1e-6);
}

TEST(JsonFiles, GainsAndTheSkipOfAidaxAreApplied) {
  const Floats x = random_numbers(kSteps, 1, 9);
  const SmallNet net(4);
  const double in = std::pow(10.0, 6.0 / 20), out = std::pow(10.0, -3.0 / 20);
  Floats louder = x;
  for (float &v : louder) v = static_cast<float>(double(v) * in);
  Doubles expected = net.lstm(louder);
  for (size_t i = 0; i < x.size(); ++i) expected[i] = (expected[i] + double(x[i]) * in) * out;
  const std::string file = net.rtneural(
      "lstm", 4,
      "\"in_skip\": 1, \"in_gain\": 6, \"out_gain\": -3, \"metadata\": {\"name\": \"Amp\", \"samplerate\": \"48000\"}, ");
  EXPECT_LT(largest_difference(outputs_of(file, x), expected), 1e-6);
  EXPECT_EQ(meta_of(compiled_of(file), "name"), "Amp");
  EXPECT_EQ(meta_of(compiled_of(file), "sample_rate"), "48000");
}

TEST(JsonFiles, TheTestVectorOfAidaxIsChecked) {
  const Floats x = random_numbers(kSteps, 1, 9);
  const SmallNet net(4);
  const Doubles y = net.lstm(x);
  Floats given(y.begin(), y.end());
  const auto with = [&](const Floats &output) {
    return net.rtneural("lstm", 4, "\"input_batch\": " + list_of(x) + ", \"output_batch\": " + list_of(output) + ", ");
  };
  EXPECT_EQ(refusal_of_file(with(given)), "");
  given[17] += 0.01f;
  const std::string refusal = refusal_of_file(with(given));
  EXPECT_NE(refusal.find("output_batch: its element 17 is"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("not of its weights"), std::string::npos) << refusal;
  given.pop_back();
  EXPECT_NE(refusal_of_file(with(given)).find("it has 39 elements, the network makes 40"), std::string::npos);
}

// A convolution of two groups, a normalization and a PReLU.
TEST(JsonFiles, ConvolutionsOfRtneuralAreCausal) {
  const std::string file =
      "{\"in_shape\": [null, null, 2], \"layers\": [{\"type\": \"conv1d\", \"activation\": \"relu\", \"shape\": [null, null, 2], "
      "\"kernel_size\": [2], \"dilation\": [3], \"groups\": 2, \"weights\": [[[[2, -1]], [[3, 4]]], [0.5, 0.25]]}, "
      "{\"type\": \"batchnorm\", \"activation\": \"\", \"shape\": [null, null, 2], \"epsilon\": 0.5, "
      "\"weights\": [[2, 3], [1, -1], [0.5, 0.25], [3.5, 0.5]]}, "
      "{\"type\": \"prelu\", \"activation\": \"\", \"shape\": [null, null, 2], \"weights\": [[[0.5, 0.25]]]}]}";
  const Floats x = random_numbers(2 * kSteps, 1, 4);
  Doubles expected;
  for (size_t t = 0; t < kSteps; ++t) {
    const auto at = [&](size_t back, size_t c) { return t < back ? 0.0 : double(x[(t - back) * 2 + c]); };
    const double sums[] = {2 * at(3, 0) + 3 * at(0, 0) + 0.5, -1 * at(3, 1) + 4 * at(0, 1) + 0.25};
    const double gamma[] = {2, 3}, beta[] = {1, -1}, mean[] = {0.5, 0.25}, spread[] = {2, 1}, slope[] = {0.5, 0.25};
    for (size_t c = 0; c < 2; ++c) {
      const double v = gamma[c] * (std::max(sums[c], 0.0) - mean[c]) / spread[c] + beta[c];
      expected.push_back(v > 0 ? v : v * slope[c]);
    }
  }
  EXPECT_LT(largest_difference(outputs_of(file, x, 2), expected), 1e-6);
}

// The weights of a net as PyTorch stores them: gates i f g o, matrices transposed.
std::string torch_lstm(const SmallNet &net, const std::string &prefix) {
  Floats hh(net.recurrent.size());
  for (size_t k = 0; k < kHidden; ++k)
    for (size_t j = 0; j < 4 * kHidden; ++j) hh[j * kHidden + k] = net.recurrent[k * 4 * kHidden + j];
  return "\"" + prefix + "rec.weight_ih_l0\": " + rows_of(net.kernel, 1) + ", \"" + prefix +
         "rec.weight_hh_l0\": " + rows_of(hh, kHidden) + ", \"" + prefix + "rec.bias_ih_l0\": " + list_of(net.bias) + ", \"" +
         prefix + "rec.bias_hh_l0\": " + list_of(Floats(4 * kHidden)) + ", \"" + prefix +
         "lin.weight\": " + rows_of(net.dense, kHidden) + ", \"" + prefix + "lin.bias\": " + list_of(net.dense_bias);
}

TEST(JsonFiles, GuitarmlAddsItsInput) {
  const Floats x = random_numbers(kSteps, 1, 9);
  const SmallNet net(4);
  const auto file = [&](const std::string &unit, int skip) {
    return "{\"model_data\": {\"model\": \"SimpleRNN\", \"input_size\": 1, \"skip\": " + std::to_string(skip) +
           ", \"output_size\": 1, \"unit_type\": \"" + unit +
           "\", \"num_layers\": 1, \"hidden_size\": 3, \"bias_fl\": true}, \"state_dict\": {" + torch_lstm(net, "") + "}}";
  };
  Doubles expected = net.lstm(x);
  EXPECT_LT(largest_difference(outputs_of(file("LSTM", 0), x), expected), 1e-6);
  for (size_t i = 0; i < x.size(); ++i) expected[i] += double(x[i]);
  EXPECT_LT(largest_difference(outputs_of(file("LSTM", 1), x), expected), 1e-6);
  EXPECT_NE(refusal_of_file(file("GRU", 1)).find("its input weights has shape [12, 1]; expected: [9, 1]"), std::string::npos);
  const auto changed = [&](const std::string &from, const std::string &to) {
    std::string text = file("LSTM", 1);
    return refusal_of_file(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_NE(changed("SimpleRNN", "ConvSimpleRNN").find("model_data.model: networks of the kind 'ConvSimpleRNN'"),
            std::string::npos);
  EXPECT_NE(changed("\"lin.weight\"", "\"conv.weight\": [[[1]]], \"lin.weight\"").find("state_dict: its layer 'conv' is not known"),
            std::string::npos);
  EXPECT_NE(changed("\"skip\": 1", "\"skip\": 2").find("model_data.skip: it is 2; accepted: integers from 0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal_of_file(file("Mamba", 1)).find("model_data.unit_type: the unit type 'Mamba' is not supported"),
            std::string::npos);
}

TEST(JsonFiles, StateDictsTellTheirLayersByName) {
  const Floats x = random_numbers(kSteps, 1, 9);
  const SmallNet net(4);
  EXPECT_LT(largest_difference(outputs_of("{" + torch_lstm(net, "net.") + "}", x), net.lstm(x)), 1e-6);
}

TEST(JsonFiles, StateDictsRefuseWhatTheyDoNotTell) {
  const std::string lstm = torch_lstm(SmallNet(4), "");
  const auto notes = compiled_of("{" + lstm + "}").graph.notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("no activation, stride or dilation"), std::string::npos) << notes[0];
  EXPECT_NE(refusal_of_file("{" + lstm + ", \"rec.weight_hr_l0\": [[1, 2, 3]]}").find("'rec.weight_hr_l0' is of no layer"),
            std::string::npos);
  const std::string before = "{\"a.weight\": [[1], [2]], \"a.bias\": [0, 0], \"b.weight\": ";
  EXPECT_NE(refusal_of_file(before + "[0.5, 0.25]}").find("the slopes of a PReLU or the scale of a norm"), std::string::npos);
  EXPECT_LT(largest_difference(outputs_of(before + "[0.25]}", {1, -1}), {1, 2, -0.25, -0.5}), 1e-6);
}

TEST(JsonFiles, RefusalsNameThePlace) {
  const SmallNet net(4);
  const std::string good = net.rtneural("lstm", 4);
  const auto refused = [](const std::string &file, const std::string &words) {
    const std::string refusal = refusal_of_file(file);
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal;
  };
  refused(good.substr(0, good.size() / 2), "the file is not whole or damaged: it begins as JSON; parse error at line 1");
  refused("{\"layers\": 1e999}", "the file is not whole or damaged: it begins as JSON; number overflow parsing '1e999'");
  refused("{}", "the file is JSON of a kind that is not known; accepted: ");
  refused("{\"layers\": 3, \"in_shape\": [1]}", "layers: an array is expected");
  refused(net.rtneural("transformer", 4), "layers[0].type: layers of type 'transformer' are not supported; accepted: activation, ");
  refused(SmallNet(3).rtneural("gru", 3), "layers[0].weights[2]: two rows are expected");
  refused(SmallNet(4).rtneural("gru", 4), "layers[0].weights[2]: two rows are expected");
  refused(SmallNet(3).rtneural("lstm", 3), "layers[0]: its kernel has shape [1, 9]; expected: [1, 12]");
  std::string leaky = good;
  leaky.replace(leaky.find("\"activation\": \"\""), 16, "\"activation\": \"leaky_relu\"");
  refused(leaky, "layers[1].activation: the activation 'leaky_relu' is not supported");
  std::string wide = good;
  wide.replace(wide.find("null, 3]"), 8, "null, 4]");
  refused(wide, "layers[0].shape[2]: it is 4, and the weights make 3");
  std::string odd = good;
  odd.replace(odd.find("[[[") + 3, 1, "\"");
  refused(odd, "parse error");
  refused("{\"in_shape\": [1], \"layers\": " + std::string(5000, '['), "the JSON file is nested too deep");
  compiler::ReadOptions low;
  low.quality = 0;
  EXPECT_NE(refusal_of_file(good, low).find("--quality is of files that hold several networks"), std::string::npos);
}

// RTNeural's own test data; its tolerance is 1e-5.
TEST(JsonFiles, OriginalsOfRtneural) {
  const std::string folder = models_in();
  if (folder.empty()) GTEST_SKIP() << "RNNPACK_MODELS_IN_DIR is not set";
  for (const char *name : {"dense", "conv", "gru", "gru_1d", "lstm", "lstm_1d", "gru_torch", "lstm_torch"}) {
    const std::string base = folder + "/rtneural/" + name;
    const Floats got = outputs_of(file_text(base + ".json"), csv_file(base + "_x.csv"));
    const Floats y = csv_file(base + "_y.csv");
    EXPECT_LT(largest_difference(got, {y.begin(), y.end()}), 1e-6) << name;
  }
  EXPECT_FALSE(compiled_of(file_text(folder + "/rtneural/full_model.json")).blob.empty());
  // PyTorch leaves out the steps that lack some of the five taps.
  const Floats got =
      outputs_of(file_text(folder + "/rtneural/conv1d_torch.json"), csv_file(folder + "/rtneural/conv1d_torch_x.csv"));
  const Floats y = csv_file(folder + "/rtneural/conv1d_torch_y.csv");
  Doubles by_step;
  constexpr size_t kChannels = 12, kMissing = 4;
  const size_t steps = y.size() / kChannels;
  for (size_t t = 0; t < steps; ++t)
    for (size_t c = 0; c < kChannels; ++c) by_step.push_back(double(y[c * steps + t]));
  const Floats whole(got.begin() + static_cast<std::ptrdiff_t>(kMissing * kChannels), got.end());
  EXPECT_LT(largest_difference(whole, by_step), 1e-6);
}

}  // namespace json_files_test
}  // namespace rnnp::testing_support
