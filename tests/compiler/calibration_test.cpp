// calibration_test.cpp -- what data decides: scales of x, rounded weights, types; what is said of the errors.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "compiler/calibrate/calibration.h"
#include "compiler/calibrate/error_report.h"
#include "compiler/calibrate/search_types.h"
#include "compiler/compile.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/files/wav.h"
#include "compiler/onnx/problem.h"
#include "compiler/verify/exact_check.h"
#include "conv_layer_dense.h"
#include "format/model.h"
#include "pack/pack.h"
#include "temporary_file.h"

namespace rnnp::testing_support {
namespace calibration_test {

using compiler::Array;
using compiler::Arrays;
using compiler::Graph;
using compiler::Reference;
using compiler::Rounding;

TEST(Calibration, ScalesOfXAreThoseThatErrLeast) {
  std::vector<float> numbers;
  for (int i = 0; i < 20000; ++i) numbers.push_back(std::sin(static_cast<float>(i)));
  EXPECT_NEAR(1.0 / 127, compiler::best_step(numbers), 2e-4);
  numbers.push_back(100.0f);  // one of many is not worth a hundred times the error of all others
  const float step = compiler::best_step(numbers);
  EXPECT_GT(100.0 / 127, step);
  numbers.push_back(HUGE_VALF);
  numbers.push_back(std::nanf(""));
  EXPECT_EQ(step, compiler::best_step(numbers));
  EXPECT_EQ(0.0f, compiler::best_step({0.0f, 0.0f}));
}

// A whisper between shouts would be lost in their scale.
TEST(Calibration, RowsOfManySizesKeepAScaleEach) {
  std::vector<float> alike, apart;
  for (int row = 0; row < 100; ++row) {
    for (int i = 0; i < 20; ++i) {
      const float v = std::sin(static_cast<float>(row * 20 + i));
      alike.push_back((row % 2 == 0 ? 1.0f : 0.9f) * v);
      apart.push_back((row % 2 == 0 ? 1.0f : 0.01f) * v);
    }
  }
  EXPECT_EQ(compiler::best_step(alike), compiler::fixed_step(alike, 20));
  EXPECT_EQ(0.0f, compiler::fixed_step(apart, 20));
}

double sqnr(const std::vector<uint8_t> &blob, const Reference &reference) {
  compiler::Runner runner(blob);
  return compiler::least_sqnr(runner.run(reference.inputs(), {}), reference.seen().outputs);
}

// x of the convolution is found in the file; h, and what the dense node reads, lie between -1 and 1.
TEST(Calibration, EveryLayerHasItsScale) {
  const TemporaryFile file("calibration.npy", compiler::format_npy(data(3.0f).at("X")));
  for (const Cell &cell : kCells) {
    Graph graph = graph_of(network(cell), "int8");
    const Reference reference(graph, kPanels, {file.path()});
    const double before = sqnr(compiler::write_blob(graph, kPanels), reference);
    compiler::set_lhs_scales(&graph, reference.seen());
    std::map<std::string, std::vector<float>> found;
    for (compiler::Node &node : graph.nodes) {
      for (const compiler::MatrixRef &m : compiler::matrices_of(&node)) found[node.name].push_back(m.storage->lhs_scale);
    }
    EXPECT_NEAR(3.0 / 127, found.at("conv")[0], 0.005);
    EXPECT_EQ(1.0f / 127, found.at("layer")[1]);
    EXPECT_EQ(1.0f / 127, found.at("dense")[0]);
    EXPECT_LT(before - 4, sqnr(compiler::write_blob(graph, kPanels), reference));
    EXPECT_LT(28, before);
  }
}

// What a file has as bytes is drawn as bytes: a scale of x that real numbers had given would cut most of them off.
TEST(Calibration, WithoutDataInputsAreDrawnOfTheFilesType) {
  OnnxBuilder b;
  b.input("X", {"T", kLayerInputs}).output("Y").random("D", {kLayerInputs, kOutputs}, 0.3);
  b.node("Cast", {"X"}, {"f"}).with("to", onnx::TensorProto::FLOAT);
  b.node("MatMul", {"f", "D"}, {"Y"}, "dense");
  for (const int type : {onnx::TensorProto::UINT8, onnx::TensorProto::FLOAT}) {
    b.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    const auto model = compiler::check_model(b.proto);
    const Graph graph = compiler::compile_model(*model, compiler::CompileOptions()).graph;
    const Reference reference(graph, kPanels, 50, 1, compiler::element_types(*model));
    const std::vector<float> &x = reference.inputs().at("X").f32;
    const bool whole = std::all_of(x.begin(), x.end(), [](float v) { return v == std::floor(v); });
    EXPECT_EQ(type == onnx::TensorProto::UINT8, whole);
    EXPECT_EQ(type == onnx::TensorProto::UINT8, *std::max_element(x.begin(), x.end()) > 200.0f);
  }
}

// On the data that they were made for, rounded weights err less in this order.
TEST(Calibration, MethodsOfRoundingErrLessInTheirOrder) {
  const TemporaryFile file("methods.npy", compiler::format_npy(data().at("X")));
  for (const Cell &cell : {kCells[2], kCells[3]}) {
    const Graph graph = graph_of(network(cell), "int8");
    const Reference reference(graph, kPanels, {file.path()});
    const auto error = [&](Rounding how) {
      Graph rounded = graph;
      compiler::round_graph(&rounded, how, &reference.seen());
      double sum = 0;
      for (size_t n = 0; n < rounded.nodes.size(); ++n) {
        compiler::Node &node = rounded.nodes[n];
        const auto matrices = compiler::matrices_of(&node);
        for (size_t i = 0; i < matrices.size(); ++i) {
          const compiler::MatrixRef &m = matrices[i];
          if (node.op == OpKind::kConv) continue;
          const PackedMatrix packed = pack_matrix(kPanels, {m.storage->rounded.empty() ? m.w->data() : m.storage->rounded.data(),
                                                            static_cast<uint32_t>(m.w->size() / m.k), m.k, 0, 1, 0,
                                                            m.storage->scales.empty() ? nullptr : m.storage->scales.data()});
          const MatrixSource place = {nullptr, static_cast<uint32_t>(m.w->size() / m.k), m.k, 0, 1};
          compiler::visit_rows(node, reference.seen().nodes[n], m, static_cast<uint32_t>(i / 2), [&](const float *x, size_t) {
            for (uint32_t row = 0; row < place.units; ++row) {
              double off = 0;
              for (uint32_t k = 0; k < m.k; ++k) {
                const int q = static_cast<int8_t>(packed.panels[place_in_panels(kPanels, place, 0, row, k)]);
                off += double{x[k]} * (double{packed.scales[row]} * q - double{(*m.w)[row * m.k + k]});
              }
              sum += off * off;
            }
          });
        }
      }
      return sum;
    };
    const double nearest = error(Rounding::kNearest), least = error(Rounding::kLeastSquares), gptq = error(Rounding::kGptq);
    EXPECT_LT(least, 1.05 * nearest);
    EXPECT_LT(gptq, 0.75 * nearest);
  }
}

// R is multiplied by what each step starts from: the results of all steps but the last one that is taken, which in a reverse
// direction is the first of the sequence.
TEST(Calibration, RowsOfRAreThoseThatStepsStartFrom) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 6}).output("Y").weights("", 3, 2, 6, 5);
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}, "layer").with("hidden_size", 5).with("direction", "bidirectional");
  constexpr size_t kFewSteps = 4, kStreams = 3;
  compiler::Array x;
  x.shape = {kFewSteps, kStreams, 6};
  for (size_t i = 0; i < kFewSteps * kStreams * 6; ++i) x.f32.push_back(std::sin(static_cast<float>(i * i)));
  const TemporaryFile file("both.npy", compiler::format_npy(x));
  Graph graph = graph_of(b.proto, "int8");
  const Reference reference(graph, kPanels, {file.path()});
  const compiler::SeenNode &seen = reference.seen().nodes[0];
  const auto matrices = compiler::matrices_of(&graph.nodes[0]);
  size_t checked = 0;
  for (size_t i = 0; i < matrices.size(); ++i) {
    if (!matrices[i].recurrent) continue;
    const auto direction = static_cast<uint32_t>(i / 2);
    std::vector<std::vector<float>> got, want;
    compiler::visit_rows(graph.nodes[0], seen, matrices[i], direction,
                         [&](const float *row, size_t k) { got.emplace_back(row, row + k); });
    for (size_t at = 0; at < (kFewSteps - 1) * kStreams; ++at) {
      const float *row = seen.out[0].row(direction == 1 ? at + kStreams : at) + 5 * direction;
      want.emplace_back(row, row + 5);
    }
    EXPECT_EQ(want, got) << direction;
    ++checked;
  }
  EXPECT_EQ(2u, checked);
}

TEST(Calibration, GptqKeepsPairsThatPanelsHold) {
  compiler::Products products(8);
  for (int i = 0; i < 100; ++i) {
    float row[8];
    for (int k = 0; k < 8; ++k) row[k] = std::sin(static_cast<float>(i * 7 + k * k)) + 0.9f * std::sin(static_cast<float>(i));
    products.add(row);
  }
  std::vector<float> w;
  for (int i = 0; i < 64; ++i) w.push_back(i % 8 < 2 ? 0.5f - 0.001f * static_cast<float>(i) : std::sin(static_cast<float>(i)) / 2);
  for (const Rounding how : {Rounding::kLeastSquares, Rounding::kGptq}) {
    compiler::Storage storage;
    storage.type = DType::kI8;
    compiler::round_weights(how, w, 8, &products, &storage);
    ASSERT_EQ(8u, storage.scales.size());
    for (size_t i = 0; i < w.size(); ++i) {
      const float q = storage.rounded[i] / storage.scales[i / 8];
      EXPECT_NEAR(q, std::nearbyint(q), 1e-4);
      EXPECT_GE(127.01f, std::fabs(q));
      const float before = i % 2 == 1 ? storage.rounded[i - 1] / storage.scales[i / 8] : 0.0f;
      EXPECT_GE(129.01f, std::fabs(q + before));
    }
  }
}

// Int4, on their own grid in groups of 32: less error by least squares, still less by GPTQ.
TEST(Calibration, Int4AreRoundedInTheirGroups) {
  constexpr uint32_t kDepth = 72;
  compiler::Products products(kDepth);
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < 300; ++i) {
    std::vector<float> row;
    for (uint32_t k = 0; k < kDepth; ++k)
      row.push_back(std::sin(static_cast<float>(i * 7 + k * k)) + 0.9f * std::sin(static_cast<float>(i + (k >> 3))));
    products.add(row.data());
    rows.push_back(row);
  }
  std::vector<float> w;
  for (uint32_t i = 0; i < 5 * kDepth; ++i) w.push_back(std::sin(static_cast<float>(i * i % 977)));
  const auto error = [&](Rounding how) {
    compiler::Storage storage;
    storage.type = DType::kI4;
    storage.group_k = 32;
    compiler::round_weights(how, w, kDepth, &products, &storage);
    const MatrixSource source = {storage.rounded.empty() ? w.data() : storage.rounded.data(), 5, kDepth, 0, 1, 32,
                                 storage.scales.empty() ? nullptr : storage.scales.data()};
    const PackedMatrix packed = pack_matrix(compiler::dense_panels(DType::kI4, 16), source);
    EXPECT_EQ(how == Rounding::kNearest ? 0u : 15u, storage.scales.size());
    double sum = 0;
    for (const std::vector<float> &row : rows) {
      for (uint32_t unit = 0; unit < 5; ++unit) {
        double off = 0;
        for (uint32_t k = 0; k < kDepth; ++k) {
          const size_t place = place_in_panels(compiler::dense_panels(DType::kI4, 16), source, 0, unit, k);
          const uint8_t byte = packed.panels[place / 8 * 4 + place % 4];
          const int q = (place % 8 < 4 ? byte & 15 : byte >> 4) - 8;
          off += double{row[k]} * (q * double{packed.scales[k / 32 * 16 + unit]} - double{w[unit * kDepth + k]});
        }
        sum += off * off;
      }
    }
    return sum;
  };
  const double nearest = error(Rounding::kNearest), gptq = error(Rounding::kGptq);
  EXPECT_LT(error(Rounding::kLeastSquares), 1.1 * nearest);
  EXPECT_LT(gptq, 0.6 * nearest);
}

TEST(Calibration, ReportsSayWhatIsLost) {
  const TemporaryFile file("report.npy", compiler::format_npy(data().at("X")));
  Graph graph = graph_of(network(kCells[2]), "int8");
  const Reference reference(graph, kPanels, {file.path()});
  for (compiler::Node &node : graph.nodes) {
    for (const compiler::MatrixRef &m : compiler::matrices_of(&node)) {
      if (node.name == "conv") m.storage->lhs_scale = 0.5f / 127;  // two of three are cut
    }
  }
  const compiler::Report report = compiler::measure_errors(reference, graph, kPanels, {});
  ASSERT_EQ(1u, report.outputs.size());
  EXPECT_EQ(kSteps, static_cast<int64_t>(report.steps));
  EXPECT_NEAR(sqnr(compiler::write_blob(graph, kPanels), reference), report.outputs[0].second.sqnr(), 1e-9);
  ASSERT_EQ(3u, report.layers.size());
  const compiler::LayerReport &conv = report.layers[0], &layer = report.layers[1];
  ASSERT_TRUE(conv.matrices[0].clipped_share.has_value());
  size_t beyond = 0;
  const std::vector<float> x = data().at("X").f32;
  for (const float v : x) beyond += std::fabs(v) > 127.5f * (0.5f / 127) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(beyond) / (kLayerInputs * kSteps), *conv.matrices[0].clipped_share, 1e-9);
  EXPECT_EQ(0u, conv.one_step_steps);
  EXPECT_EQ(4u, layer.matrices.size());
  EXPECT_EQ(kSteps, static_cast<int64_t>(layer.one_step_steps));
  // One step errs less than all of them, on an input that has been cut.
  EXPECT_LT(layer.free_running.sqnr() + 6, layer.one_step.sqnr());
  EXPECT_LT(20, layer.one_step.sqnr());
  ASSERT_TRUE(layer.first_beyond.has_value());
  EXPECT_GT(2u, *layer.first_beyond);
  EXPECT_GT(2u * kLayerHidden, *layer.worst_unit);
  const nlohmann::json json = nlohmann::json::parse(compiler::report_json(report));
  EXPECT_NEAR(layer.one_step.sqnr(), json["layers"][1]["one_step"]["sqnr_db"].get<double>(), 1e-9);
  EXPECT_EQ(*layer.first_beyond, json["layers"][1]["free_running"]["first_step_over_0.1"].get<size_t>());
  EXPECT_EQ("int8", json["layers"][0]["matrices"][0]["type"]);
}

// What is asked for is kept with the fewest bytes that the search finds; more is asked, more is stored.
TEST(Calibration, TypesAreFoundForAnAccuracy) {
  const TemporaryFile file("search.npy", compiler::format_npy(data().at("X")));
  const Graph graph = graph_of(network(kCells[3]), "");
  const Reference reference(graph, kPanels, {file.path()});
  size_t bytes = 0;
  for (const double least : {20.0, 50.0, 65.0, 120.0}) {
    SCOPED_TRACE(least);
    Graph found = graph;
    const auto lines = compiler::search_types(&found, kPanels, reference,
                                              [&](const Arrays &y) { return compiler::least_sqnr(y, reference.seen().outputs); },
                                              {least, "dB", 1 << 20, {}, Rounding::kNearest}, {});
    const std::vector<uint8_t> blob = compiler::write_blob(found, kPanels);
    EXPECT_LE(least, sqnr(blob, reference));
    EXPECT_LT(bytes, blob.size());
    bytes = blob.size();
    EXPECT_NE(std::string::npos, lines.back().find("fit the 1024 KiB of L2")) << lines.back();
    EXPECT_EQ(0u, lines.front().find("auto: W of 'conv' alone: int4 ")) << lines.front();
  }
  EXPECT_EQ(compiler::write_blob(graph, kPanels).size(), bytes);
  Graph kept = graph;
  compiler::search_types(&kept, kPanels, reference, [](const Arrays &) { return 0.0; },
                         {-1.0, "", 0, {"layer"}, Rounding::kNearest}, {});
  for (compiler::Node &node : kept.nodes) {
    for (const compiler::MatrixRef &m : compiler::matrices_of(&node))
      EXPECT_EQ(node.name == "layer" ? DType::kF32 : DType::kI4, m.storage->type) << node.name;
  }
}

std::vector<uint8_t> wav(uint16_t kind, uint16_t channels, uint16_t bits, const std::vector<uint8_t> &samples) {
  std::vector<uint8_t> out;
  const auto text = [&](const char *t) { out.insert(out.end(), t, t + 4); };
  const auto number = [&](uint32_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(v >> (8 * i)));
  };
  text("RIFF"), number(0, 4), text("WAVE"), text("LIST"), number(3, 4), number(0, 4);
  text("fmt "), number(16, 4), number(kind, 2), number(channels, 2), number(16000, 4), number(0, 4), number(0, 2), number(bits, 2);
  text("data"), number(static_cast<uint32_t>(samples.size()), 4);
  out.insert(out.end(), samples.begin(), samples.end());
  return out;
}

// WAVE_FORMAT_EXTENSIBLE: the form of samples stands in the first two bytes of a GUID, behind 8 bytes more.
std::vector<uint8_t> extensible_wav(uint16_t kind, uint16_t bits, const std::vector<uint8_t> &samples) {
  std::vector<uint8_t> out = wav(0xfffe, 1, bits, samples);
  const size_t form = 12 + 12;  // behind RIFF and LIST
  out[form + 4] = 40;
  const std::vector<uint8_t> more = {
      22,  0,  static_cast<uint8_t>(bits), 0, 4, 0, 0, 0, static_cast<uint8_t>(kind), 0, 0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56,
      155, 113};
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(form + 8 + 16), more.begin(), more.end());
  return out;
}

TEST(Calibration, ExtensibleWavesAreTheirSamples) {
  const TemporaryFile floats("floats.wav", extensible_wav(3, 32, {0, 0, 0x80, 0x3e}));
  EXPECT_EQ((std::vector<float>{0.25f}), compiler::read_wav(floats.path()));
  const TemporaryFile integers("integers.wav", extensible_wav(1, 16, {0, 0x40, 0, 0xc0}));
  EXPECT_EQ((std::vector<float>{0.5f, -0.5f}), compiler::read_wav(integers.path()));
  const TemporaryFile wide("wide.wav", extensible_wav(1, 32, {0, 0, 0, 0x40}));
  EXPECT_EQ((std::vector<float>{0.5f}), compiler::read_wav(wide.path()));
  const TemporaryFile other("other.wav", extensible_wav(2, 16, {0, 0x40}));
  EXPECT_THROW(compiler::read_wav(other.path()), compiler::IoError);
}

TEST(Calibration, WavesAreTheirSamples) {
  const TemporaryFile mono("mono.wav", wav(1, 1, 16, {0, 0x40, 0, 0xc0, 0xff, 0x7f}));
  EXPECT_EQ((std::vector<float>{0.5f, -0.5f, 32767.0f / 32768}), compiler::read_wav(mono.path()));
  const TemporaryFile stereo("stereo.wav", wav(1, 2, 16, {0, 0x40, 0, 0x20, 0, 0, 0, 0x40}));
  EXPECT_EQ((std::vector<float>{0.375f, 0.25f}), compiler::read_wav(stereo.path()));
  const TemporaryFile floats("floats.wav", wav(3, 1, 32, {0, 0, 0x80, 0x3e}));
  EXPECT_EQ((std::vector<float>{0.25f}), compiler::read_wav(floats.path()));
  const TemporaryFile bytes("bytes.wav", wav(1, 1, 8, {0, 1}));
  EXPECT_THROW(compiler::read_wav(bytes.path()), compiler::IoError);
  const TemporaryFile none("none.wav", {1, 2, 3});
  EXPECT_THROW(compiler::read_wav(none.path()), compiler::IoError);
}

}  // namespace calibration_test
}  // namespace rnnp::testing_support
