// cuda_dense.cpp -- y = act(x * M^T + b) by the product kernels. Touches its output only. SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/args.h"
#include "cuda/pack_image.h"

namespace rnnp {
namespace cuda {
namespace {

struct DenseMatrix {
  DeviceMatrix matrix;
  const float *bias;
};

struct DenseNode {
  Context *context;
  ProductPlan plan;
  DenseMatrix *matrices;
  uint32_t count;
};

rnnp_status check(const Model &m, const BlobNode &node) {
  return rnnp_op_dense.check(m, node);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  Context *c = context_of(env->memory);
  const Model &m = *env->model;
  const AttrDense *a = m.attr<AttrDense>(node);
  const Matrix matrix = m.matrix(a->matrix);
  Weights weights;
  if (!kind_of_panels(matrix.format, c->limits.weights, &weights)) return RNNP_E_LAYOUT;
  DenseNode n = {};
  n.context = c;
  n.plan = plan_product(weights, 1, a->output_size, a->input_size, c->limits);
  n.count = matrix.count;
  if (!n.plan.fits) return RNNP_E_SMALL_MEMORY;
  add_plan(c, n.plan);
  load_product_kernels(c, n.plan);
  DenseNode *kept = env->arena->take<DenseNode>(1);
  n.matrices = env->arena->take<DenseMatrix>(n.count);
  const Shape s = {1, a->input_size, n.plan.units};
  const size_t bias_elems = vector_bytes(matrix.format, matrix.shape) / sizeof(float);
  for (uint32_t i = 0; i < n.count; ++i) {
    DenseMatrix d;
    d.matrix = pack_matrix(c, weights, s, {matrix, matrix, i});
    d.bias = pack_numbers(c, weights, s, a->output_size, [&](uint32_t, uint32_t unit) {
      return a->bias == kNone ? 0.0f : number_beside(matrix, m.weights(a->bias) + i * bias_elems, 1, 0, unit);
    });
    if (n.matrices != nullptr) n.matrices[i] = d;
  }
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
  const uint32_t together = n.count == 1 ? a.groups : 1, each = a.groups / n.count;
  ProductArgs g = {};
  g.out_row = size_t{a.output_size} * (a.groups / together);
  g.x_row = size_t{a.input_size} * (a.groups / together);
  g.count = static_cast<uint32_t>(chunk_rows(env, y) * together);
  g.k = a.input_size;
  g.gates = 1;
  g.units = n.plan.units;
  g.blocks = n.plan.blocks;
  g.outputs = a.output_size;
  const ProductLaunch l = launch_of(n.plan, g.count);
  g.columns = l.columns;
  g.act = a.act;
  for (uint32_t v = 0; v < a.groups; v += together) {
    const DenseMatrix &d = n.matrices[v / each];
    g.image = d.matrix.image;
    g.bytes = d.matrix.scales;
    g.blocks_of_matrix = d.matrix.blocks;
    g.bias = d.bias;
    g.x = row_of(env.values[env.model->node_input(node, 0)], 0) + size_t{v} * a.input_size;
    g.out = row_of(env.values[y], 0) + size_t{v} * a.output_size;
    launch(n.context, l.kernel, l.blocks, l.shared_bytes, g);
  }
}

}  // namespace

const Op op_dense = {OpKind::kDense, nullptr, check, nullptr, build, nullptr, run};

}  // namespace cuda
}  // namespace rnnp
