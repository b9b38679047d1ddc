// cudnn_peer.cpp -- Contract: cudnn_peer.h, on cuDNN 9.
// SPDX-License-Identifier: Apache-2.0
#include "cudnn_peer.h"

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <chrono>
#include <cstring>
#include <stdexcept>

#include "cuda/panels.h"

namespace rnnp_bench {
namespace {

using rnnp::Cell;

void need(cudnnStatus_t status, const char *what) {
  if (status != CUDNN_STATUS_SUCCESS) throw std::runtime_error(std::string(what) + ": " + cudnnGetErrorString(status));
}
void need(cudaError_t error, const char *what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

class Memory {
 public:
  explicit Memory(size_t bytes = 0) {
    if (bytes != 0) need(cudaMalloc(&data_, bytes), "cudaMalloc");
  }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  void *data() { return data_; }

 private:
  void *data_ = nullptr;
};

// Where cuDNN has a gate of ours (ONNX's order: i o f c; z r h): its number of W's matrix; R's is as many further.
uint32_t cudnn_gate(Cell cell, uint32_t gate) {
  constexpr uint32_t kLstm[] = {0, 3, 1, 2}, kGru[] = {1, 0, 2};
  return cell == Cell::kLstm ? kLstm[gate] : cell == Cell::kRnn ? 0 : kGru[gate];
}

cudnnRNNMode_t mode_of(Cell cell) {
  return cell == Cell::kLstm ? CUDNN_LSTM : cell == Cell::kRnn ? CUDNN_RNN_TANH : CUDNN_GRU;
}

cudnnRNNAlgo_t algo_of(CudnnAlgorithm algorithm) {
  switch (algorithm) {
    case CudnnAlgorithm::kPersistent:
      return CUDNN_RNN_ALGO_PERSIST_STATIC;
    case CudnnAlgorithm::kSmallHidden:
      return CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H;
    case CudnnAlgorithm::kStandard:
      break;
  }
  return CUDNN_RNN_ALGO_STANDARD;
}

// cuDNN's objects of one layer.
struct Descriptors {
  cudnnHandle_t handle = nullptr;
  cudnnRNNDescriptor_t rnn = nullptr;
  cudnnDropoutDescriptor_t dropout = nullptr;
  cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
  cudnnTensorDescriptor_t state = nullptr, matrix = nullptr, bias = nullptr;

  Descriptors() {
    need(cudnnCreate(&handle), "cudnnCreate");
    need(cudnnCreateRNNDescriptor(&rnn), "cudnnCreateRNNDescriptor");
    need(cudnnCreateDropoutDescriptor(&dropout), "cudnnCreateDropoutDescriptor");
    need(cudnnCreateRNNDataDescriptor(&x), "cudnnCreateRNNDataDescriptor");
    need(cudnnCreateRNNDataDescriptor(&y), "cudnnCreateRNNDataDescriptor");
    for (cudnnTensorDescriptor_t *t : {&state, &matrix, &bias}) need(cudnnCreateTensorDescriptor(t), "cudnnCreateTensorDescriptor");
  }
  ~Descriptors() {
    for (cudnnTensorDescriptor_t t : {state, matrix, bias}) cudnnDestroyTensorDescriptor(t);
    cudnnDestroyRNNDataDescriptor(y);
    cudnnDestroyRNNDataDescriptor(x);
    cudnnDestroyDropoutDescriptor(dropout);
    cudnnDestroyRNNDescriptor(rnn);
    cudnnDestroy(handle);
  }
  Descriptors(const Descriptors &) = delete;
  Descriptors &operator=(const Descriptors &) = delete;
};

class Layer : public CudnnLayer {
 public:
  Layer(const rnnp_test::RecurrentLayer &layer, const std::vector<float> &x, const CudnnRun &what, CudnnAlgorithm algorithm)
      : layer_(layer), what_(what) {
    describe(algorithm);
    need(cudnnGetRNNWeightSpaceSize(d_.handle, d_.rnn, &weight_bytes_), "cudnnGetRNNWeightSpaceSize");
    size_t reserve = 0;
    need(cudnnGetRNNTempSpaceSizes(d_.handle, d_.rnn, CUDNN_FWD_MODE_INFERENCE, d_.x, &work_bytes_, &reserve),
         "cudnnGetRNNTempSpaceSizes");
    weights_ = std::make_unique<Memory>(weight_bytes_);
    work_ = std::make_unique<Memory>(work_bytes_);
    x_ = std::make_unique<Memory>(x.size() * element());
    y_ = std::make_unique<Memory>(outputs() * element());
    lengths_ = std::make_unique<Memory>(what.batch * sizeof(int32_t));
    const std::vector<int32_t> lengths(what.batch, static_cast<int32_t>(what.steps));
    need(cudaMemcpy(lengths_->data(), lengths.data(), lengths.size() * sizeof(int32_t), cudaMemcpyHostToDevice), "cudaMemcpy");
    need(cudaMemset(weights_->data(), 0, weight_bytes_), "cudaMemset");
    need(cudaMemset(y_->data(), 0xff, outputs() * element()), "cudaMemset");  // NaNs
    put(x_->data(), x);
    put_weights();
  }

  double run() override {
    const auto begin = std::chrono::steady_clock::now();
    need(cudnnRNNForward(d_.handle, d_.rnn, CUDNN_FWD_MODE_INFERENCE, static_cast<const int32_t *>(lengths_->data()), d_.x,
                         x_->data(), d_.y, y_->data(), d_.state, nullptr, nullptr, d_.state, nullptr, nullptr, weight_bytes_,
                         weights_->data(), work_bytes_, work_->data(), 0, nullptr),
         "cudnnRNNForward");
    need(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::vector<float> output() override {
    std::vector<float> y(outputs());
    if (!what_.halves) {
      need(cudaMemcpy(y.data(), y_->data(), y.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
      return y;
    }
    std::vector<uint16_t> halves(y.size());
    need(cudaMemcpy(halves.data(), y_->data(), halves.size() * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < y.size(); ++i) y[i] = rnnp::cuda::value_of_f16(halves[i]);
    return y;
  }

 private:
  size_t element() const { return what_.halves ? 2 : 4; }
  size_t outputs() const { return what_.steps * what_.batch * layer_.hidden; }

  void describe(CudnnAlgorithm algorithm) {
    const int hidden = static_cast<int>(layer_.hidden), input = static_cast<int>(layer_.input);
    const int steps = static_cast<int>(what_.steps), batch = static_cast<int>(what_.batch);
    const cudnnDataType_t type = what_.halves ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    need(cudnnSetDropoutDescriptor(d_.dropout, d_.handle, 0.0f, nullptr, 0, 0), "cudnnSetDropoutDescriptor");
    need(cudnnSetRNNDescriptor_v8(d_.rnn, algo_of(algorithm), mode_of(layer_.cell), CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                  CUDNN_LINEAR_INPUT, type, CUDNN_DATA_FLOAT, what_.halves ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH,
                                  input, hidden, hidden, 1, d_.dropout, CUDNN_RNN_PADDED_IO_DISABLED),
         "cudnnSetRNNDescriptor_v8");
    const std::vector<int> lengths(what_.batch, steps);
    float fill = 0.0f;
    need(cudnnSetRNNDataDescriptor(d_.x, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, batch, input, lengths.data(), &fill),
         "cudnnSetRNNDataDescriptor");
    need(cudnnSetRNNDataDescriptor(d_.y, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, batch, hidden, lengths.data(), &fill),
         "cudnnSetRNNDataDescriptor");
    const int sizes[] = {1, batch, hidden}, strides[] = {batch * hidden, hidden, 1};
    need(cudnnSetTensorNdDescriptor(d_.state, type, 3, sizes, strides), "cudnnSetTensorNdDescriptor");
  }

  void put(void *to, const std::vector<float> &v) const {
    std::vector<uint16_t> halves(what_.halves ? v.size() : 0);
    for (size_t i = 0; i < halves.size(); ++i) halves[i] = rnnp::cuda::f16_of_value(v[i]);
    const void *from = what_.halves ? static_cast<const void *>(halves.data()) : v.data();
    need(cudaMemcpy(to, from, v.size() * element(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  static std::vector<float> gate_of(const std::vector<double> &all, uint32_t gate, size_t elems) {
    const auto from = all.begin() + static_cast<ptrdiff_t>(gate * elems);
    return std::vector<float>(from, from + static_cast<ptrdiff_t>(elems));
  }

  void put_gate(uint32_t number, const std::vector<float> &matrix, const std::vector<float> &bias) {
    void *matrix_at = nullptr, *bias_at = nullptr;
    need(cudnnGetRNNWeightParams(d_.handle, d_.rnn, 0, weight_bytes_, weights_->data(), static_cast<int32_t>(number), d_.matrix,
                                 &matrix_at, d_.bias, &bias_at),
         "cudnnGetRNNWeightParams");
    if (matrix_at == nullptr || bias_at == nullptr) throw std::runtime_error("cuDNN has no place for a gate");
    put(matrix_at, matrix);
    put(bias_at, bias);
  }

  void put_weights() {
    const rnnp_test::DirectionWeights &w = layer_.directions[0];
    const uint32_t gates = rnnp_test::gates_of(layer_.cell);
    const size_t hidden = layer_.hidden, input = layer_.input;
    for (uint32_t g = 0; g < gates; ++g) {
      const uint32_t number = cudnn_gate(layer_.cell, g);
      put_gate(number, gate_of(w.w, g, hidden * input), gate_of(w.wb, g, hidden));
      put_gate(number + gates, gate_of(w.r, g, hidden * hidden), gate_of(w.rb, g, hidden));
    }
  }

  rnnp_test::RecurrentLayer layer_;
  CudnnRun what_;
  Descriptors d_;
  size_t weight_bytes_ = 0, work_bytes_ = 0;
  std::unique_ptr<Memory> weights_, work_, x_, y_, lengths_;
};

}  // namespace

const char *name_of(CudnnAlgorithm algorithm) {
  return algorithm == CudnnAlgorithm::kStandard     ? "cuDNN standard"
         : algorithm == CudnnAlgorithm::kPersistent ? "cuDNN persistent"
                                                    : "cuDNN small-H";
}

std::unique_ptr<CudnnLayer> make_cudnn_layer(const rnnp_test::RecurrentLayer &layer, const std::vector<float> &x,
                                             const CudnnRun &what, CudnnAlgorithm algorithm, std::string *why) {
  if (layer.cell == Cell::kGru || layer.cell == Cell::kLstmNorm) {
    *why = layer.cell == Cell::kGru ? "refused: resets after it multiplies" : "refused: has no layer norms";
    return nullptr;
  }
  try {
    auto made = std::make_unique<Layer>(layer, x, what, algorithm);
    made->run();  // what an algorithm does not do is refused here at the latest
    return made;
  } catch (const std::runtime_error &problem) {
    *why = std::string("refused: ") + problem.what();
    return nullptr;
  }
}

}  // namespace rnnp_bench
