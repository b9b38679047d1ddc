// hostile_blob_test.cpp -- any bytes are safe to open: truncations, bit flips with and without mended checksums, then run what
// opens. Meant to run under ASan and UBSan as well; blobs lie at the end of an allocation of exactly their size.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;

std::vector<uint8_t> sample_blob() {
  BlobBuilder b(3);
  const uint32_t x = b.add_input(3);
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = 5;
  gru.initial_state = true;
  RecurrentOptions lstm;
  lstm.hidden = 7;
  lstm.peephole = true;
  uint32_t y_h;
  const uint32_t a = b.add_recurrent(x, 3, gru);
  const uint32_t c = b.add_recurrent(a, 5, lstm, &y_h);
  b.add_output(b.add_dense(c, 7, 4, rnnp::Act::kTanh));
  b.add_output(b.add_dense(y_h, 7, 2), "final");
  return b.build();
}

// Open; if it opens, ask, init and run two steps in bounded memory. Whatever happens must be a status.
rnnp_status open_and_run(const std::vector<uint8_t> &bytes) {
  constexpr size_t kMemory = 1 << 20;
  const AlignedBytes owned(bytes);
  rnnp_model model;
  rnnp_status status = rnnp_model_open(&model, owned.data(), bytes.size(), 0);
  if (status != RNNP_OK) return status;
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  o.max_steps = 4;
  rnnp_memory need = RNNP_MEMORY_INIT;
  status = rnnp_session_memory(&model, &o, &need);
  if (status != RNNP_OK) return status;
  if (need.session_bytes > kMemory) return RNNP_E_SMALL_MEMORY;
  AlignedBytes mem(need.session_bytes);
  rnnp_session *session = nullptr;
  status = rnnp_session_init(&session, &model, &o, mem.data(), mem.size());
  if (status != RNNP_OK) return status;
  rnnp_tensor_info in = {}, out = {};
  in.struct_bytes = out.struct_bytes = sizeof in;
  if (rnnp_model_get_input(&model, 0, &in) != RNNP_OK || rnnp_model_get_output(&model, 0, &out) != RNNP_OK) return RNNP_OK;
  if (in.row_elems > 65536 || out.row_elems > 65536) return RNNP_OK;
  std::vector<float> x(size_t{2} * in.row_elems, 0.5f), y(size_t{2} * out.row_elems);
  return rnnp_run(session, 2, x.data(), y.data());
}

TEST(HostileBlob, TheSampleItselfRuns) {
  EXPECT_EQ(RNNP_OK, open_and_run(sample_blob()));
}

TEST(HostileBlob, EveryTruncationIsRefused) {
  const std::vector<uint8_t> blob = sample_blob();
  for (size_t n = 0; n < blob.size(); ++n) EXPECT_LT(open_and_run({blob.begin(), blob.begin() + n}), 0) << n;
}

TEST(HostileBlob, EveryFlippedBitOfTheTablesIsRefused) {
  const std::vector<uint8_t> blob = sample_blob();
  rnnp::BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  for (size_t i = 0; i < h.weights.offset; ++i) {
    if (i >= offsetof(rnnp::BlobHeader, weights_crc) && i < offsetof(rnnp::BlobHeader, weights_crc) + 4)
      continue;  // checked on request only
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bad = blob;
      bad[i] = static_cast<uint8_t>(bad[i] ^ (1 << bit));
      EXPECT_LT(open_and_run(bad), 0) << "byte " << i;
    }
  }
}

// A running sum that the library keeps, behind a recurrent layer.
std::vector<uint8_t> persistent_state_blob(bool loop = false) {
  BlobBuilder b(5);
  const uint32_t x = b.add_input(3);
  RecurrentOptions rnn;
  rnn.cell = rnnp::Cell::kRnn;
  rnn.hidden = 6;
  const uint32_t h = b.add_recurrent(x, 3, rnn);
  uint32_t state;
  if (loop) b.begin_loop();
  const uint32_t before = b.add_state_read(6, &state);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {6}, {1}, {1}};
  const uint32_t after = b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {before, h}, 6, true);
  b.add_state_write(state, after);
  if (loop) b.end_loop();
  b.add_output(after);
  return b.build();
}

// Convolutions of both forms over time and features, and a pool.
std::vector<uint8_t> conv_blob() {
  BlobBuilder b(6);
  const uint32_t x = b.add_input(12);
  rnnp::AttrConv conv = {};
  conv.window = {{1, 6}, {1, 3}, {1, 3}, {1, 2}, {1, 1}, {0, 1}, 0, {0, 2, 1}, 0, {12, 4}};
  conv.time_taps = 2;
  conv.time_dilation = 1;
  conv.lead = 1;
  conv.groups = 2;
  conv.in_channels = 1;
  conv.out_channels = 2;
  const uint32_t y = b.add_conv(x, conv, 12);
  conv.window = {{1, 3}, {1, 3}, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 0, {0, 4, 1}, 0, {12, 4}};
  conv.groups = 4;
  conv.out_channels = 1;
  conv.act.act = uint32_t(rnnp::Act::kTanh);
  const uint32_t z = b.add_depthwise(y, conv, 12);
  rnnp::AttrPool pool = {};
  pool.window = {{1, 3}, {1, 2}, {1, 2}, {1, 1}, {1, 1}, {0, 0}, 0, {0, 4, 1}, 0, {8, 4}};
  pool.pool = uint32_t(rnnp::Pool::kAverage);
  pool.channels = 4;
  b.add_output(b.add_node(rnnp::OpKind::kPool, &pool, sizeof pool, {z}, 8, true));
  return b.build();
}

// A convolution of planes, its weights the points of F(2x2, 3x3).
std::vector<uint8_t> points_blob() {
  BlobBuilder b(6);
  rnnp::AttrConv conv = {};
  conv.window = {{3, 5}, {3, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 0, {5, 1, 15}, 0, {4, 1}};
  conv.time_taps = conv.time_dilation = conv.groups = 1;
  conv.in_channels = 2;
  conv.out_channels = 3;
  conv.y_plane = 12;
  conv.act.act = uint32_t(rnnp::Act::kTanh);
  b.add_output(b.add_winograd(b.add_input(30), conv, 36));
  return b.build();
}

// A convolution of lines, its weights the points of F(2, 3).
std::vector<uint8_t> line_points_blob() {
  BlobBuilder b(6);
  rnnp::AttrConv conv = {};
  conv.window = {{1, 5}, {1, 5}, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 0, {0, 2, 1}, 0, {15, 3}};
  conv.time_taps = 2;
  conv.time_dilation = conv.groups = conv.lead = 1;
  conv.in_channels = 2;
  conv.out_channels = 3;
  conv.act.act = uint32_t(rnnp::Act::kTanh);
  b.add_output(b.add_winograd(b.add_input(10), conv, 15));
  return b.build();
}

uint32_t add_plain(BlobBuilder *b, rnnp::OpKind op, const void *attr, size_t bytes, std::vector<uint32_t> in, uint32_t elems) {
  return b->add_node(op, attr, bytes, std::move(in), elems, true);
}

// Comparison, selection, a product of two, a reduction, an activation without a kernel, a normalisation, one after the other.
std::vector<uint8_t> plain_operators_blob() {
  BlobBuilder b(7);
  const uint32_t x = b.add_input(12);
  const rnnp::AttrBinary greater = {uint32_t(rnnp::Binary::kGreater), 2, {3, 4}, {4, 1}, {1, 0}};
  const uint32_t mask = add_plain(&b, rnnp::OpKind::kBinary, &greater, sizeof greater, {x, x}, 12);
  const rnnp::AttrWhere where = {2, {3, 4}, {{4, 1}, {-4, 1}, {0, 0}}, {0, 8, 3}};
  const uint32_t chosen = add_plain(&b, rnnp::OpKind::kWhere, &where, sizeof where, {mask, x, x}, 12);
  rnnp::AttrMatMul product = {};
  product.m = 2;
  product.n = 3;
  product.k = 2;
  product.rank = 1;
  product.dims[0] = 3;
  product.a = {0, 2, 1, {4}};
  product.b = {2, 1, 2, {0}};
  const uint32_t y = add_plain(&b, rnnp::OpKind::kMatMul, &product, sizeof product, {chosen, x}, 18);
  const rnnp::AttrReduce reduce = {uint32_t(rnnp::Reduce::kLogSumExp), 0, 1, {6}, {3}, 1, {3}, {1}};
  const uint32_t sums = add_plain(&b, rnnp::OpKind::kReduce, &reduce, sizeof reduce, {y}, 6);
  const rnnp::AttrReduce columns = {uint32_t(rnnp::Reduce::kMean), 0, 1, {6}, {1}, 1, {3}, {6}};
  const uint32_t means = add_plain(&b, rnnp::OpKind::kReduce, &columns, sizeof columns, {y}, 6);
  const rnnp::AttrUnary erf = {{uint32_t(rnnp::Act::kErf), 0, 0}};
  const uint32_t bent = add_plain(&b, rnnp::OpKind::kUnary, &erf, sizeof erf, {sums}, 6);
  rnnp::AttrNorm norm = {2, 3, 1, 0, 1e-5f, b.add_weights({1, 2, 3}), rnnp::kNone};
  const uint32_t z = add_plain(&b, rnnp::OpKind::kNorm, &norm, sizeof norm, {bent}, 6);
  norm = {2, 3, 0, 1, 1e-5f, b.add_weights({1, 2}), b.add_weights({3, 4})};
  const uint32_t even = add_plain(&b, rnnp::OpKind::kNorm, &norm, sizeof norm, {z}, 6);
  const rnnp::AttrBinary prelu = {uint32_t(rnnp::Binary::kPRelu), 1, {6}, {1}, {1}};
  b.add_output(add_plain(&b, rnnp::OpKind::kBinary, &prelu, sizeof prelu, {even, means}, 6));
  return b.build();
}

// With a mended checksum the tables' own checks have to hold: nothing may be read or written outside.
void corrupt_everywhere(const std::vector<uint8_t> &blob) {
  rnnp::BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  const uint32_t values[] = {
      0, 1, 2, 3, 7, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0xfffffff0u, 64, 4096, h.file_bytes, h.weights.offset};
  size_t opened = 0;
  for (size_t at = 0; at + 4 <= h.weights.offset; at += 4)
    for (uint32_t v : values) {
      std::vector<uint8_t> bad = blob;
      std::memcpy(bad.data() + at, &v, 4);
      reseal(&bad);
      opened += open_and_run(bad) == RNNP_OK;
    }
  EXPECT_GT(opened, 0u);  // some corruptions are valid models; that they ran under the sanitizers is the test
}

TEST(HostileBlob, MalformedTablesAreSafe) {
  corrupt_everywhere(sample_blob());
}

TEST(HostileBlob, MalformedPersistentStatesAreSafe) {
  EXPECT_EQ(RNNP_OK, open_and_run(persistent_state_blob()));
  corrupt_everywhere(persistent_state_blob());
}

// A run of them goes round the loop twice.
TEST(HostileBlob, MalformedLoopsAreSafe) {
  EXPECT_EQ(RNNP_OK, open_and_run(persistent_state_blob(true)));
  corrupt_everywhere(persistent_state_blob(true));
}

TEST(HostileBlob, MalformedConvolutionsAreSafe) {
  EXPECT_EQ(RNNP_OK, open_and_run(conv_blob()));
  corrupt_everywhere(conv_blob());
  EXPECT_EQ(RNNP_OK, open_and_run(points_blob()));
  corrupt_everywhere(points_blob());
  EXPECT_EQ(RNNP_OK, open_and_run(line_points_blob()));
  corrupt_everywhere(line_points_blob());
}

TEST(HostileBlob, MalformedPlainOperatorsAreSafe) {
  EXPECT_EQ(RNNP_OK, open_and_run(plain_operators_blob()));
  corrupt_everywhere(plain_operators_blob());
}

TEST(HostileBlob, MalformedTimeReductionsAreSafe) {
  const auto blob = [](uint32_t op, uint32_t state_elems, uint32_t words = 2) {
    BlobBuilder b(9);
    const uint32_t x = b.add_input(5);
    const rnnp::AttrTimeReduce reduce = {op, b.add_persistent(state_elems, words)};
    b.add_output(b.add_dense(x, 5, 3));
    b.add_output(b.add_node(rnnp::OpKind::kTimeReduce, &reduce, sizeof reduce, {x}, 5, false), "total");
    return b.build();
  };
  EXPECT_EQ(RNNP_OK, open_and_run(blob(uint32_t(rnnp::Reduce::kMean), 12)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(uint32_t(rnnp::Reduce::kMean), 11)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(uint32_t(rnnp::Reduce::kMean), 12, 1)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(uint32_t(rnnp::Reduce::kMean), 12, 12)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(uint32_t(rnnp::Reduce::kL1), 12)));
  corrupt_everywhere(blob(uint32_t(rnnp::Reduce::kMax), 12));
}

// reversed in pieces, as rows, with lengths that are none.
TEST(HostileBlob, MalformedReversalsAreSafe) {
  enum class Wrong : uint8_t { kNothing, kCausal, kReserved, kLengths, kRow, kWidth };
  const auto blob = [](Wrong wrong) {
    BlobBuilder b(9);
    const uint32_t x = b.add_input(5), lengths = b.add_lengths_input();
    b.set_causal(false);
    b.add_output(b.add_dense(x, 5, 3));
    const uint32_t row = b.add_time_step(x, false);
    const rnnp::AttrTimeReverse turn = {wrong == Wrong::kReserved ? 1u : 0u};
    const uint32_t by = wrong == Wrong::kLengths ? x : lengths, elems = wrong == Wrong::kWidth ? 4 : 5;
    const uint32_t reversed = wrong == Wrong::kRow ? row : x;
    b.set_causal(wrong == Wrong::kCausal);
    b.add_output(b.add_node(rnnp::OpKind::kTimeReverse, &turn, sizeof turn, {reversed, by}, elems, true), "reversed");
    b.add_output(row, "first");
    return b.build();
  };
  EXPECT_EQ(RNNP_OK, open_and_run(blob(Wrong::kNothing)));
  for (const Wrong wrong : {Wrong::kCausal, Wrong::kReserved, Wrong::kLengths, Wrong::kRow, Wrong::kWidth})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(wrong))) << int(wrong);
  corrupt_everywhere(blob(Wrong::kNothing));
}

// A window of 2^28 elements, of which one is in x: a step would take a second. macs_per_step counts such work.
TEST(HostileBlob, MalformedWindowsMayNotTakeMoreThanTheFactsSay) {
  const auto blob = [](uint32_t taps, uint32_t y_elems) {
    BlobBuilder b(9);
    rnnp::AttrPool pool = {};
    pool.window = {};
    pool.window.in_size[0] = 1;
    pool.window.in_size[1] = 64;
    pool.window.out_size[0] = 1;
    pool.window.out_size[1] = y_elems;
    for (int i = 0; i < 2; ++i) pool.window.kernel[i] = pool.window.stride[i] = pool.window.dilation[i] = 1;
    pool.window.kernel[1] = taps;
    pool.window.x_stride[0] = 64;
    pool.window.x_stride[1] = pool.window.x_stride[2] = 1;
    pool.window.y_stride[0] = y_elems;
    pool.window.y_stride[1] = 1;
    pool.channels = 1;
    const uint32_t x = b.add_input(64);
    b.add_output(b.add_node(rnnp::OpKind::kPool, &pool, sizeof pool, {x}, y_elems, true));
    return b.build();
  };
  EXPECT_EQ(RNNP_OK, open_and_run(blob(3, 62)));
  EXPECT_EQ(RNNP_OK, open_and_run(blob(64, 1)));
  for (const uint32_t taps : {1u << 16, 1u << 24, (1u << 28) - 64})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(taps, 1))) << taps;
}

// A matrix for each group: counts that do not divide, or ask for more weights than there are.
TEST(HostileBlob, MalformedGroupedDenseIsSafe) {
  const auto blob = [](uint32_t groups, uint32_t matrices) {
    BlobBuilder b(8);
    const uint32_t x = b.add_input(12);
    const std::vector<float> w(4 * 3 * 16, 0.5f), bias(4 * 16, 0.25f);
    const rnnp::AttrDense dense = {3, 2, b.add_matrix(1, 2, 3, b.add_weights(w), matrices), b.add_weights(bias), {}, groups};
    b.add_output(b.add_node(rnnp::OpKind::kDense, &dense, sizeof dense, {x}, 8, true));
    return b.build();
  };
  EXPECT_EQ(RNNP_OK, open_and_run(blob(4, 4)));
  EXPECT_EQ(RNNP_OK, open_and_run(blob(4, 2)));
  for (uint32_t matrices : {0u, 3u, 8u, 0x80000000u}) EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open_and_run(blob(4, matrices)));
  corrupt_everywhere(blob(4, 4));
}

// One field of the sample of persistent states changed: refused.
template <class Change>
rnnp_status changed(Change change) {
  std::vector<uint8_t> blob = persistent_state_blob();
  rnnp::BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  change(&blob, &h);
  std::memcpy(blob.data(), &h, sizeof h);
  reseal(&blob);
  return open_and_run(blob);
}

// Strides of 0 reach nothing outside, however often they are walked: the work of a copy is bounded by its output.
TEST(HostileBlob, ACopyOfManyTimesTheSameElementIsRefused) {
  for (const uint32_t side : {2u, 3u, 70000u}) {
    BlobBuilder b(1);
    rnnp::AttrCopy copy = {};
    copy.rank = 2;
    copy.dims[0] = copy.dims[1] = side;
    const uint32_t x = b.add_input(4);
    b.add_output(b.add_node(rnnp::OpKind::kCopy, &copy, sizeof copy, {x}, 4, true));
    if (side == 2) {
      Runner runs(b.build());
    } else {
      EXPECT_ANY_THROW(Runner(b.build())) << side;
    }
  }
}

TEST(HostileBlob, PersistentStatesNeedStepsAndOneBuffer) {
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([](std::vector<uint8_t> *, rnnp::BlobHeader *h) { h->flags = rnnp::kBlobCausal; }));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([](std::vector<uint8_t> *, rnnp::BlobHeader *h) { h->flags = rnnp::kBlobStepwise; }));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([](std::vector<uint8_t> *, rnnp::BlobHeader *h) { h->stream_steps = 0x80000000u; }));
  for (const uint32_t state : {0u, 2u, 0xffffffffu}) {  // 0 is the layer's, of two buffers
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([&](std::vector<uint8_t> *blob, rnnp::BlobHeader *h) {
                rnnp::BlobNode read;
                std::memcpy(&read, blob->data() + h->nodes.offset + sizeof read, sizeof read);
                EXPECT_EQ(uint32_t(rnnp::OpKind::kStateRead), read.op);
                std::memcpy(blob->data() + h->attrs.offset + read.attr, &state, sizeof state);
              }));
  }
  for (const uint32_t elems : {1u, 5u, 7u}) {
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([&](std::vector<uint8_t> *blob, rnnp::BlobHeader *h) {
                std::memcpy(blob->data() + h->states.offset + sizeof(rnnp::BlobState), &elems, sizeof elems);
              }));
  }
}

TEST(HostileBlob, DamagedWeightsAreFoundOnRequest) {
  std::vector<uint8_t> blob = sample_blob();
  blob.back() ^= 1;
  AlignedBytes bytes(blob);
  rnnp_model model;
  EXPECT_EQ(RNNP_OK, rnnp_model_open(&model, bytes.data(), bytes.size(), 0));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, rnnp_model_open(&model, bytes.data(), bytes.size(), RNNP_OPEN_CHECK_WEIGHTS));
}

}  // namespace
