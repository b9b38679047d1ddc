// cuda_plan_text.cpp -- Contract: cuda_plan_text.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/cuda_plan_text.h"

#include <cstdio>

#include "compiler/files/files.h"
#include "compiler/inspect/inspect.h"
#include "compiler/onnx/errors.h"
#include "cuda/panels.h"
#include "cuda/plan.h"
#include "format/model.h"
#include "ops/recurrent_check.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

rnnp_cuda_device device_in_file(const std::string &path) {
  const std::vector<uint8_t> bytes = read_file(path);
  const Json doc = Json::parse(std::string(bytes.begin(), bytes.end()), nullptr, false);
  if (!doc.is_object()) throw IoError(quote(path) + ": no JSON object of a GPU's facts");
  rnnp_cuda_device d = RNNP_CUDA_DEVICE_INIT;
  d.cooperative = 1;
  const std::pair<const char *, uint32_t *> members[] = {{"arch", &d.arch},
                                                         {"sm_count", &d.sm_count},
                                                         {"shared_per_block", &d.shared_per_block},
                                                         {"l2_bytes", &d.l2_bytes},
                                                         {"clock_mhz", &d.clock_mhz},
                                                         {"memory_mb_per_s", &d.memory_mb_per_s},
                                                         {"integrated", &d.integrated},
                                                         {"cooperative", &d.cooperative},
                                                         {"cluster_blocks", &d.cluster_blocks}};
  size_t known = 0;
  for (const auto &member : members) {
    if (!doc.contains(member.first)) continue;
    const Json &value = doc[member.first];
    if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX)
      throw IoError(quote(path) + ": " + member.first + " is no number of 32 bits");
    *member.second = value.get<uint32_t>();
    ++known;
  }
  if (known != doc.size()) throw IoError(quote(path) + ": has a member that is no fact of a GPU (docs/CUDA.md lists them)");
  if (d.arch < cuda::kOldestArch || d.sm_count == 0 || d.sm_count > 4096 || d.shared_per_block < 48 * 1024 ||
      d.shared_per_block > (1u << 20))
    throw IoError(quote(path) + ": arch is at least 870, sm_count 1 to 4096, shared_per_block 48 KiB to 1 MiB");
  return d;
}

rnnp_cuda_device device_of(const std::string &name) {
  for (uint32_t i = 0; i < cuda::kNamedDeviceCount; ++i) {
    if (name == cuda::kNamedDevices[i].name) return cuda::kNamedDevices[i].device;
  }
  return device_in_file(name);
}

}  // namespace

std::string cuda_device_names() {
  std::string names;
  for (uint32_t i = 0; i < cuda::kNamedDeviceCount; ++i) names += (i ? ", " : "") + std::string(cuda::kNamedDevices[i].name);
  return names;
}

std::string cuda_plan_text(const void *blob, size_t bytes, const CudaPlanOptions &options, const PlanMachine &machine) {
  const std::string &weights = options.weights;
  const rnnp_cuda_device d = device_of(options.device);
  const cuda::Weights type = weights == "f16"    ? cuda::Weights::kF16
                             : weights == "bf16" ? cuda::Weights::kBf16
                                                 : cuda::Weights::kF32;
  rnnp_model opened;
  Model m;
  if (rnnp_model_open(&opened, blob, bytes, 0) != RNNP_OK || !read_model(&opened, &m)) return "";
  char line[512];
  std::snprintf(line, sizeof line, "CUDA plan for %s: %u SMs, %s weights, batch %u; times are arithmetic, not measured\n",
                options.device.c_str(), d.sm_count, weights.c_str(), machine.batch);
  std::string text = line;
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    const BlobNode &node = m.nodes[i];
    const AttrRecurrent *a = OpKind(node.op) == OpKind::kRecurrent ? m.attr<AttrRecurrent>(node) : nullptr;
    if (a == nullptr || !recurrent_sizes_fit(*a, Cell::kLstmNorm)) continue;
    cuda::LayerShape shape;
    if (check_recurrent_weights(m, *a) != RNNP_OK) continue;
    if (!cuda::layer_shape(m, *a, type, &shape)) {
      std::snprintf(line, sizeof line, "  %s: %s\n", m.string(node.name),
                    cuda::words_for_panels(m.matrix(a->direction[0].r).format));
      text += line;
      continue;
    }
    const cuda::LayerPlan p = cuda::plan_layer(shape, {d, type, machine.batch, machine.steps, 0, 0, 0});
    std::snprintf(line, sizeof line, "  %s: %s; %u steps a launch, predicted %.2f us per step and direction\n", m.string(node.name),
                  p.fits ? p.reason : "no kernel has room for its columns",
                  p.resident == cuda::KernelId::count ? 1u : p.steps_per_launch, p.predicted_ns * 1e-3);
    text += line;
  }
  return text;
}

}  // namespace rnnp::compiler
