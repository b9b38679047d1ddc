// cmd_inspect.cpp -- `rnnpack inspect`: what a blob holds, as text or JSON.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/add_options.h"
#include "compiler/cli/command.h"
#include "compiler/cli/numbers.h"
#include "compiler/inspect/inspect.h"

namespace rnnp::compiler {
namespace {

int run(const InspectRequest &request) {
  std::fputs(inspect(request).c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_inspect(CLI::App *app, Action *action) {
  auto options = std::make_shared<InspectRequest>();
  CLI::App *command = app->add_subcommand("inspect", "Show what a blob holds");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--onnx", options->onnx,
                      "the file it was made from: also which axes were taken as time and batch, and why; takes compile's options");
  add_options(command, model_options(&options->graph));
  command->add_option("--prune", options->prune, "with --onnx: what compile was given");
  command->add_flag("--json", options->json, "as JSON, everything");
  command->add_flag("--memory", options->memory, "also the map of the pools");
  command->add_option("--svg", options->svg, "write the map of the pools there, as a picture");
  command->add_option("--target", options->device,
                      "also flash, RAM, instructions and cycles of a step there, by a table: " + device_names());
  command->add_option("--mhz", options->mhz, "with --target: the CPU's clock, for microseconds")
      ->check(above_zero())
      ->needs("--target");
  command->add_flag(
      "--plan", options->plan,
      "also how the recurrent layers would be cut, and predicted times, on the machine that the options below describe");
  command
      ->add_option("--cuda", options->cuda,
                   "with --plan: on this GPU instead, " + cuda_device_names() + " or a file of its facts (docs/CUDA.md)")
      ->needs("--plan");
  command->add_option("--cuda-weights", options->cuda_weights, "f32, f16 or bf16")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->needs("--cuda");
  PlanMachine &m = options->machine;
  command->add_option("--threads", m.threads, "threads of the executor")->check(CLI::Range(1u, 1024u))->capture_default_str();
  command->add_option("--batch", m.batch, "rows")->check(CLI::Range(1u, 1u << 20))->capture_default_str();
  command->add_option("--steps", m.steps, "steps of a run")->check(CLI::Range(1u, 1u << 28))->capture_default_str();
  command->add_option("--l1-kib", m.l1_kib, "first data cache of a core")->capture_default_str();
  command->add_option("--l2-kib", m.l2_kib, "private L2 of a core")->check(CLI::Range(0u, 1u << 20))->capture_default_str();
  command->add_option("--l3-kib", m.l3_kib, "L3 that a core can use")->check(CLI::Range(0u, 1u << 21))->capture_default_str();
  for (const auto &rate :
       {std::make_pair("--l1-gbs", &m.l1_gbs), std::make_pair("--l2-gbs", &m.l2_gbs), std::make_pair("--l3-gbs", &m.l3_gbs),
        std::make_pair("--dram-gbs", &m.dram_gbs), std::make_pair("--gflops", &m.gflops)}) {
    command->add_option(rate.first, *rate.second, "a core's measured rate (make bench)")
        ->check(above_zero())
        ->capture_default_str();
  }
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
