// driver.cpp -- compiles and runs the models that fuzz.py sends, one after the other in one process: a plain run whose outputs go
// back to be compared with onnxruntime, and random walks over the API that must give its bits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>

#include "case_walk.h"
#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/cut_graph.h"
#include "compiler/onnx/problem.h"
#include "fuzz/byte_source.h"

namespace rnnp::onnx_fuzz {
namespace {

// A causal network knows nothing of the steps to come, so neither of where the row will end.
void check_before_the_ends(const Network &network, const std::vector<Words> &whole, const std::vector<Words> &ended,
                           const std::vector<int32_t> &lengths) {
  for (size_t i = 0; i < whole.size(); ++i) {
    const rnnp_tensor_info &facts = network.outputs()[i];
    if (!network.per_step(facts)) continue;
    for (size_t row = 0; row < network.batch(); ++row) {
      for (size_t step = 0; step < static_cast<size_t>(lengths[row]); ++step) {
        const size_t at = (step * network.batch() + row) * facts.row_elems;
        if (!same_bits(&whole[i][at], &ended[i][at], facts.row_elems))
          throw Wrong(std::string("'") + facts.name + "': io.lengths changes steps before a row's end");
      }
    }
  }
}

void walk_all(const Network &network, const std::vector<Words> &plain, const Request &request) {
  rnnp_fuzz::ByteSource random(uint64_t{request.seed});
  for (uint32_t i = 0; i < request.walks; ++i) {
    const uint32_t seed = request.seed * 16 + i;
    if (i % 2 == 0 || !network.causal()) {
      walk_case(network, plain, {}, seed, request.serial != 0);
      continue;
    }
    std::vector<int32_t> lengths;
    for (uint32_t row = 0; row < network.batch(); ++row)
      lengths.push_back(static_cast<int32_t>(random.below(static_cast<uint32_t>(network.steps()) + 1)));
    const std::vector<Words> ended = network.plain(lengths.data());
    if (!network.ends_rows()) check_before_the_ends(network, plain, ended, lengths);
    walk_case(network, ended, lengths, seed, request.serial != 0);
  }
}

void evaluate(const compiler::OnnxModel &model, const Request &request, Answer *answer) {
  std::map<std::string, compiler::Tensor> inputs;
  for (const compiler::DeclaredInput &declared : model.inputs) {
    const auto found = request.inputs.find(declared.name);
    if (found == request.inputs.end()) return;
    const bool is_float = declared.elem_type == compiler::kOnnxFloat;
    compiler::Tensor tensor(is_float ? compiler::Elem::kFloat : compiler::Elem::kInt, found->second.shape);
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      int32_t whole;
      std::memcpy(&whole, &found->second.data[i], sizeof whole);
      tensor.data[i] = is_float ? static_cast<double>(found->second.data[i]) : whole;
    }
    inputs[declared.name] = std::move(tensor);
  }
  for (auto &output : compiler::eval_graph(model, inputs))
    answer->evaluated[output.first] = std::move(output.second.data.doubles());
}

// Which kernels and operators: any, so that all are tried.
void choose_kernels(Network *network, rnnp_fuzz::ByteSource *random) {
  constexpr uint32_t kIsas[] = {0, 0, RNNP_ISA_AVX2, RNNP_ISA_REFERENCE_ONLY};
  constexpr uint32_t kFlags[] = {0, 0, RNNP_SESSION_PORTABLE_OPS, RNNP_SESSION_ALL_XNNPACK};
  network->isa_allowed = kIsas[random->below(4)];
  network->flags = kFlags[random->below(4)];
}

// A model is compiled once, however many sizes it runs at.
class Models {
 public:
  const std::vector<uint8_t> &blob_of(const Request &request) {
    if (blob_.empty() || request.model != file_ || !request.states.empty()) {
      blob_.clear();
      file_ = request.model;
      model_ = compiler::parse_model(file_.data(), file_.size());
      std::set<std::string> kept;
      for (const compiler::StatePair &pair : request.states) kept.insert(pair.input);
      compiler::leave_out_unread(model_.get(), kept);
      compiler::CompileOptions options;
      options.states = request.states;
      const std::string others = compile(options, 1);
      const std::vector<uint8_t> by_others = blob_;
      const std::string refusal = compile(options, 0);
      if (others.empty() != refusal.empty() || by_others != blob_)
        throw Wrong("the blob depends on the numbers that stand in for open sizes");
      if (!refusal.empty()) throw compiler::ModelError(refusal);
    }
    return blob_;
  }
  const compiler::OnnxModel &model() const { return *model_; }

 private:
  // The blob, and the refusal, empty where there is none.
  std::string compile(const compiler::CompileOptions &options, int stand_ins) {
    blob_.clear();
    model_->stand_ins = stand_ins;
    try {
      blob_ = compiler::compile_model(*model_, options).blob;
    } catch (const compiler::ModelError &error) {
      return error.what();
    } catch (const compiler::UsageError &error) {
      return error.what();
    }
    return "";
  }

  std::vector<uint8_t> file_, blob_;
  std::unique_ptr<compiler::OnnxModel> model_;
};

Answer answer_to(const Request &request, Models *models) {
  Answer answer;
  try {
    const std::vector<uint8_t> &blob = models->blob_of(request);
    if (request.evaluate) evaluate(models->model(), request, &answer);
    Network network(blob, request);
    rnnp_fuzz::ByteSource random(uint64_t{request.seed});
    choose_kernels(&network, &random);
    if (request.portable) network.flags = RNNP_SESSION_PORTABLE_OPS;
    answer.causal = network.causal();
    std::vector<Words> plain = network.plain(nullptr);
    if (request.spoil == 1) plain[0][0] ^= 0x40000000u;
    for (size_t i = 0; i < plain.size(); ++i) answer.outputs[network.outputs()[i].name] = network.array_of(i, plain[i]);
    if (request.spoil == 2) plain[0].back() ^= 1u;
    walk_all(network, plain, request);
  } catch (const compiler::ModelError &error) {
    answer.verdict = Verdict::kRefused;
    answer.message = error.what();
  } catch (const compiler::UsageError &error) {
    answer.verdict = Verdict::kRefused;
    answer.message = error.what();
  } catch (const PartOfAStep &error) {
    answer.verdict = Verdict::kPartOfAStep;
    answer.message = error.what();
  } catch (const std::exception &error) {
    answer.verdict = Verdict::kWrong;
    answer.message = error.what();
  }
  return answer;
}

}  // namespace
}  // namespace rnnp::onnx_fuzz

int main() {
  rnnp::onnx_fuzz::Request request;
  rnnp::onnx_fuzz::Models models;
  while (rnnp::onnx_fuzz::read_request(&request)) rnnp::onnx_fuzz::write_answer(rnnp::onnx_fuzz::answer_to(request, &models));
  return 0;
}
