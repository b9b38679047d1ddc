// blob_builder.h -- writes blobs for tests straight from blob.h, independent of the compiler, and keeps the plain weights beside
// them. So the runtime is tested against the format's words and an f64 reference (reference_layers.h), not against its own packer.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_BLOB_BUILDER_H_
#define RNNPACK_TESTS_SUPPORT_BLOB_BUILDER_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "format/blob.h"
#include "pack/pack.h"

namespace rnnp_test {

// One direction of one recurrent layer in ONNX's shapes and gate order.
struct DirectionWeights {
  std::vector<double> w, r, wb, rb, p;  // [G*H][I], [G*H][H], [G*H], [G*H], [3*H] or empty
  std::vector<double> h0, c0;           // [H] or empty for zeros
  // kLstmNorm: [4H], of R h empty where one norm is of both; behind the norms; [H].
  std::vector<double> x_scale, h_scale, norm_bias, c_scale, c_bias;
  bool reverse = false;
  rnnp::BlobActivation act[3] = {};
};

struct RecurrentLayer {
  rnnp::Cell cell = rnnp::Cell::kLstm;
  uint32_t input = 0, hidden = 0;
  bool input_forget = false, masked = false;
  bool by_gate = false, keeps_c = false;  // kLstmNorm
  double clip = 0;
  std::vector<DirectionWeights> directions;
};

struct DenseLayer {
  uint32_t input = 0, output = 0;
  std::vector<double> w, b;  // [O][I], [O]
  rnnp::BlobActivation act = {};
};

// w [groups][out_channels][time][h][w][in_channels], b [groups][out_channels].
struct ConvLayer {
  rnnp::AttrConv attr = {};
  std::vector<double> w, b;
};

struct RecurrentOptions {
  rnnp::Cell cell = rnnp::Cell::kLstm;
  uint32_t hidden = 16;
  bool bidirectional = false, reverse = false, peephole = false, input_forget = false, initial_state = false;
  bool masked = false;                                   // x has a feature more than `input`: kMaskedSteps
  bool by_gate = false, keeps_c = false, joint = false;  // kLstmNorm; joint: one norm of W x + R h
  double clip = 0;
  std::vector<rnnp::Act> acts;  // empty: the defaults
};

// What is added to the variance of each norm of a kLstmNorm: of x, of h, of c.
constexpr float kNormEpsilons[3] = {1e-5f, 1e-4f, 1e-3f};

uint32_t gates_of(rnnp::Cell cell);

// The bytes of a blob at an address aligned as blobs want it.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes = 0);
  explicit AlignedBytes(const std::vector<uint8_t> &bytes);
  uint8_t *data() { return data_; }
  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::vector<uint8_t> storage_;
  uint8_t *data_;
  size_t size_;
};

class BlobBuilder {
 public:
  explicit BlobBuilder(uint32_t seed, uint32_t nr = 16) : rng_(seed), nr_(nr) {}

  uint32_t add_input(uint32_t elems, const std::string &name = "x");
  // One row per batch row and run (role ROW). What is made of such rows alone is ready in the first chunk of a run.
  uint32_t add_row_input(uint32_t elems, const std::string &name);
  // Optional inputs of the recurrent layer added next: initial_h, initial_c (role STATE) and lengths.
  uint32_t add_state_input(uint32_t elems, const std::string &name);
  uint32_t add_lengths_input();
  // i32 indices of every step, in [-limit, limit).
  uint32_t add_index_input(uint32_t elems, uint32_t limit);
  // Random weights, uniform in +-1/sqrt(H). Returns the value of Y; y_h and y_c, when given, receive those values.
  uint32_t add_recurrent(uint32_t x, uint32_t input, const RecurrentOptions &options, uint32_t *y_h = nullptr,
                         uint32_t *y_c = nullptr, std::vector<uint32_t> extra_inputs = {});
  uint32_t add_dense(uint32_t x, uint32_t input, uint32_t output, rnnp::Act act = rnnp::Act::kIdentity);
  uint32_t add_node(rnnp::OpKind op, const void *attr, size_t attr_bytes, const std::vector<uint32_t> &inputs, uint32_t out_elems,
                    bool sequence);
  // A value takes the place of one of its size that is not read any more, as the compiler has it.
  void place_over(uint32_t value, uint32_t before) { values_[value].location = values_[before].location; }
  // A state of one buffer, for an operator that keeps it between runs; the last `words` of its elements are integers.
  uint32_t add_persistent(uint32_t elems, uint32_t words = 0);
  // The last or the first step, once all layers that look ahead are there.
  uint32_t add_time_step(uint32_t x, bool last);
  // Over all steps so far, of each element.
  uint32_t add_time_reduce(uint32_t x, rnnp::Reduce op);
  void set_causal(bool causal) { causal_ = causal; }
  // Makes the model one that is not causal.
  uint32_t add_time_reverse(uint32_t x, uint32_t lengths = rnnp::kNone);
  // A state of `elems` that the library keeps: its value before the step; add_state_write says what it becomes.
  // `start`: an input that a run may bring for it.
  uint32_t add_state_read(uint32_t elems, uint32_t *state, uint32_t start = rnnp::kNone);
  // What every row of a state begins with.
  void start_state_at(uint32_t state, const std::vector<float> &row);
  // `lengths`: an input that says where rows end.
  void add_state_write(uint32_t state, uint32_t x, uint32_t lengths = rnnp::kNone);
  // The nodes added between these are a loop, which add_state_read begins.
  void begin_loop() { loop_ = static_cast<uint32_t>(nodes_.size()); }
  void end_loop();
  // A convolution of these words; its weights are small integers, kept in `conv`. Its state, matrix and bias are filled in.
  uint32_t add_conv(uint32_t x, rnnp::AttrConv attr, uint32_t out_elems);
  // The same of 3 x 3 windows and planes, its weights stored as the points of F(2x2, 3x3).
  uint32_t add_winograd(uint32_t x, rnnp::AttrConv attr, uint32_t out_elems);
  // The same, of one channel in and out per group, for the operator that keeps their weights side by side.
  uint32_t add_depthwise(uint32_t x, rnnp::AttrConv attr, uint32_t out_elems);
  // `count` matrices whose panels are at this offset, for an attribute to refer to.
  uint32_t add_matrix(uint32_t gates, uint32_t units, uint32_t k, uint32_t panels, uint32_t count = 1);
  // Floats for an attribute to refer to; returns their offset.
  uint32_t add_weights(const std::vector<float> &v) { return put(v); }
  // One row for all steps and rows.
  uint32_t add_constant(const std::vector<float> &v);
  void add_output(uint32_t value, const std::string &name = "y");

  std::vector<uint8_t> build();

  // What the matrices of layers added from now on are stored as, and R of recurrent ones; the f64 weights stay what was drawn (of
  // blocks, what is left).
  rnnp::DType weights = rnnp::DType::kF32, recurrent_weights = rnnp::DType::kF32;
  // int8, int4: what a byte of h is worth is known of all of R, and alike; else of every second matrix.
  bool one_recurrent_step = false;

  // bf16: of panels whose rows are rounded to bf16.
  bool rounds_lhs = false;

  // int4: k of one scale; 0: the fewest that there can be.
  uint32_t group_k = 0;

  // int8, dense int4: each matrix has a diagonal beside it, of numbers that the f64 weights know nothing of.
  bool diagonal = false;
  // Units of a block of those that are f32, bf16 or int8: all but some of the blocks are taken out. 1: single weights, of f32 or
  // int8. 0: dense, and where NR is not 16.
  uint32_t block_units = 0;

  uint32_t elems_of(uint32_t value) const { return values_[value].row_elems; }

  std::vector<RecurrentLayer> recurrent;  // in order of adding
  std::vector<DenseLayer> dense;
  std::vector<ConvLayer> conv;

 private:
  uint32_t add_value(rnnp::ValueKind kind, uint32_t elems, bool sequence, rnnp::DType dtype = rnnp::DType::kF32);
  uint32_t add_state(uint32_t elems, const std::vector<double> &init);
  uint32_t add_string(const std::string &s);
  // Offset in the weights.
  uint32_t put(const void *bytes, size_t count);
  template <class T>
  uint32_t put(const std::vector<T> &v) {
    return put(v.data(), v.size() * sizeof(T));
  }
  uint32_t add_convolution(uint32_t x, rnnp::AttrConv attr, uint32_t out_elems, bool depthwise, bool winograd = false);
  std::vector<float> panels(const std::vector<double> &m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates) const;
  // Offset of a vector per unit, index of a matrix.
  uint32_t pack_vector(const std::vector<double> &v, uint32_t units, uint32_t gates);
  uint32_t pack_matrix(const std::vector<double> &m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates,
                       rnnp::DType type);
  uint32_t pack_sparse(std::vector<double> m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates, rnnp::DType type);
  uint32_t pack_diagonal(const rnnp::PanelFormat &format, uint32_t units, uint32_t gates, uint32_t count);
  uint32_t pack_matrices(rnnp::DType type, const std::vector<float> &rows, rnnp::MatrixSource source, uint32_t count);
  std::vector<double> random(size_t n, double bound);
  // As block_units says: a matrix's weights of all gates.
  void thin_out(std::vector<double> *rows, uint32_t units, uint32_t k) const;
  rnnp::BlobDirection pack_direction(const RecurrentLayer &layer, DirectionWeights &d);
  rnnp::BlobCellNorm add_norm(const RecurrentOptions &options, DirectionWeights *d);
  void push_node(rnnp::OpKind op, const void *attr, size_t bytes, const std::vector<uint32_t> &in,
                 const std::vector<uint32_t> &out);

  std::mt19937 rng_;
  uint32_t nr_;
  uint32_t sequence_elems_ = 0, row_elems_ = 0;
  uint64_t macs_per_step_ = 0;
  bool causal_ = true, stepwise_ = false;
  uint32_t loop_ = rnnp::kNone;  // the first node of the one that has begun
  std::vector<rnnp::BlobValue> values_;
  std::vector<rnnp::BlobNode> nodes_;
  std::vector<uint32_t> args_;
  std::vector<rnnp::BlobIo> inputs_, outputs_;
  std::vector<rnnp::BlobState> states_;
  std::vector<rnnp::BlobMatrix> matrices_;
  std::vector<uint8_t> attrs_, strings_, weights_;
};

// Recompute the checksum of a saved state whose elements a test has changed.
void reseal_state(std::vector<uint8_t> *saved);

// Recompute both checksums of a blob whose bytes a test has changed.
void reseal(std::vector<uint8_t> *blob);

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_BLOB_BUILDER_H_
