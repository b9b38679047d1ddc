// cuda_dense.cpp -- y = act(x * M^T + b) by the product kernels. Touches its output only. SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/args.h"
#include "cuda/ops/cuda_ops.h"

namespace rnnp {
namespace cuda {
namespace {

struct DenseNode {
  Context *context;
  ProductPlan plan;
  const uint8_t *weights;  // of all matrices, one after the other
  const float *bias;
  size_t weight_bytes, bias_elems;  // from matrix to matrix
  uint32_t matrices;
};

rnnp_status check(const Model &m, const BlobNode &node) {
  return rnnp_op_dense.check(m, node);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  Context *c = context_of(env->memory);
  const Model &m = *env->model;
  const AttrDense *a = m.attr<AttrDense>(node);
  const Matrix matrix = m.matrix(a->matrix);
  if (!panels_are_readable(matrix)) return RNNP_E_LAYOUT;
  DenseNode n = {};
  n.context = c;
  n.plan = plan_product(a->output_size, a->input_size, c->limits);
  n.matrices = matrix.count;
  if (!n.plan.fits) return RNNP_E_SMALL_MEMORY;
  const Shape s = {1, a->input_size, n.plan.units};
  const size_t bias_bytes = vector_bytes(matrix.format, matrix.shape);
  for (uint32_t i = 0; i < matrix.count; ++i) {
    const uint8_t *weights = pack_image(
        c, s, a->output_size, [&](uint32_t, uint32_t unit, uint32_t k) { return weight_in_panels(matrix, i, 0, unit, k); });
    const float *bias = pack_numbers(c, s, a->output_size, [&](uint32_t, uint32_t unit) {
      return a->bias == kNone ? 0.0f : number_beside(matrix, m.weights(a->bias) + i * (bias_bytes / sizeof(float)), 1, 0, unit);
    });
    if (i == 0) n.weights = weights, n.bias = bias;
    if (i == 1) n.weight_bytes = static_cast<size_t>(weights - n.weights), n.bias_elems = static_cast<size_t>(bias - n.bias);
  }
  DenseNode *kept = env->arena->take<DenseNode>(1);
  *object = kept;
  if (kept != nullptr) *kept = n;
  return RNNP_OK;
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  const DenseNode &n = *static_cast<const DenseNode *>(object);
  const AttrDense &a = *env.model->attr<AttrDense>(node);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  // Vectors of one matrix lie side by side: as many rows of x.
  const uint32_t together = n.matrices == 1 ? a.groups : 1, each = a.groups / n.matrices;
  ProductArgs g = {};
  g.out_row = size_t{a.output_size} * (a.groups / together);
  g.x_row = size_t{a.input_size} * (a.groups / together);
  g.count = static_cast<uint32_t>(chunk_rows(env, y) * together);
  g.k = a.input_size;
  g.gates = 1;
  g.units = n.plan.units;
  g.blocks = n.plan.blocks;
  g.out_limit = a.output_size;
  g.columns = n.plan.columns;
  g.act = a.act;
  for (uint32_t v = 0; v < a.groups; v += together) {
    g.image = n.weights + v / each * n.weight_bytes;
    g.bias = n.bias + v / each * n.bias_elems;
    g.x = row_of(env.values[env.model->node_input(node, 0)], 0) + size_t{v} * a.input_size;
    g.out = row_of(env.values[y], 0) + size_t{v} * a.output_size;
    launch(n.context, product_kernel(n.context->limits.weights), g.blocks * ceil_div(g.count, g.columns), n.plan.shared_bytes, g);
  }
}

}  // namespace

const Op op_dense = {OpKind::kDense, nullptr, check, nullptr, build, nullptr, run};

}  // namespace cuda
}  // namespace rnnp
