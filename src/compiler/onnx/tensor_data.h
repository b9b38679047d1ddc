// tensor_data.h -- the elements of a tensor, read as doubles one by one. What a file has as floats, or as integers that a float
// holds, stays floats until somebody writes to it: large weights never become doubles as a whole.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_TENSOR_DATA_H_
#define RNNPACK_COMPILER_ONNX_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace rnnp::compiler {

// A place among numbers that lie side by side; what reads many asks once of which type they are.
class NumberPointer {
 public:
  NumberPointer() = default;
  explicit NumberPointer(const double *at) : doubles_(at) {}
  explicit NumberPointer(const float *at) : floats_(at) {}

  double operator[](std::ptrdiff_t i) const { return floats_ != nullptr ? static_cast<double>(floats_[i]) : doubles_[i]; }
  NumberPointer operator+(std::ptrdiff_t n) const {
    return floats_ != nullptr ? NumberPointer(floats_ + n) : NumberPointer(doubles_ + n);
  }
  // Calls with const double * or const float *.
  template <class Call>
  auto as_they_are(Call call) const {
    return floats_ != nullptr ? call(floats_) : call(doubles_);
  }

 private:
  const double *doubles_ = nullptr;
  const float *floats_ = nullptr;
};

class TensorData {
 public:
  using value_type = double;

  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = double;
    using difference_type = std::ptrdiff_t;
    using pointer = const double *;
    using reference = double;

    const_iterator() = default;
    const_iterator(NumberPointer first, std::ptrdiff_t at) : first_(first), at_(at) {}
    double operator*() const { return first_[at_]; }
    double operator[](std::ptrdiff_t i) const { return first_[at_ + i]; }
    const_iterator &operator++() { return *this += 1; }
    const_iterator operator++(int) { return {first_, at_++}; }
    const_iterator &operator--() { return *this += -1; }
    const_iterator operator--(int) { return {first_, at_--}; }
    const_iterator &operator+=(std::ptrdiff_t n) {
      at_ += n;
      return *this;
    }
    const_iterator &operator-=(std::ptrdiff_t n) { return *this += -n; }
    const_iterator operator+(std::ptrdiff_t n) const { return {first_, at_ + n}; }
    const_iterator operator-(std::ptrdiff_t n) const { return {first_, at_ - n}; }
    std::ptrdiff_t operator-(const const_iterator &other) const { return at_ - other.at_; }
    bool operator==(const const_iterator &other) const { return at_ == other.at_; }
    bool operator!=(const const_iterator &other) const { return at_ != other.at_; }
    bool operator<(const const_iterator &other) const { return at_ < other.at_; }
    bool operator>(const const_iterator &other) const { return at_ > other.at_; }
    bool operator<=(const const_iterator &other) const { return at_ <= other.at_; }
    bool operator>=(const const_iterator &other) const { return at_ >= other.at_; }

   private:
    NumberPointer first_;
    std::ptrdiff_t at_ = 0;
  };

  TensorData() = default;
  TensorData(std::vector<double> numbers) : doubles_(std::move(numbers)) {}
  TensorData(std::initializer_list<double> numbers) : doubles_(numbers) {}
  explicit TensorData(std::vector<float> numbers) : floats_(std::move(numbers)) {}

  size_t size() const { return floats_.empty() ? doubles_.size() : floats_.size(); }
  bool empty() const { return size() == 0; }
  double operator[](size_t i) const { return floats_.empty() ? doubles_[i] : static_cast<double>(floats_[i]); }
  NumberPointer numbers() const { return floats_.empty() ? NumberPointer(doubles_.data()) : NumberPointer(floats_.data()); }
  const_iterator begin() const { return {numbers(), 0}; }
  const_iterator end() const { return {numbers(), static_cast<std::ptrdiff_t>(size())}; }
  std::vector<double> copied() const { return {begin(), end()}; }
  bool are_floats() const { return !floats_.empty(); }

  // To be written to, as doubles.
  double &operator[](size_t i) {
    if (!floats_.empty()) widen();
    return doubles_[i];
  }
  std::vector<double> &doubles() {
    if (!floats_.empty()) widen();
    return doubles_;
  }
  double *data() { return doubles().data(); }
  // Where they are of this type already.
  float *same_as(const float *) { return floats_.data(); }
  double *same_as(const double *) { return doubles_.data(); }
  double *begin() { return data(); }
  double *end() { return data() + size(); }
  void resize(size_t count) { doubles().resize(count); }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    *this = TensorData(std::vector<double>(first, last));
  }

  // Keeps them as floats where they are many and each is one. Their bits as doubles are the same again.
  void narrow();

  friend bool operator==(const TensorData &a, const TensorData &b);
  friend bool operator!=(const TensorData &a, const TensorData &b) { return !(a == b); }

 private:
  void widen();

  // One of them is empty.
  std::vector<double> doubles_;
  std::vector<float> floats_;
};

bool same_bits(const TensorData &a, const TensorData &b);

// Doubles side by side: the tensor's own where it has them, else a copy. For what is small beside weights. The tensor must outlive
// it.
class AsDoubles {
 public:
  AsDoubles() = default;
  explicit AsDoubles(const TensorData &data);
  AsDoubles(const AsDoubles &) = delete;
  AsDoubles &operator=(const AsDoubles &) = delete;
  AsDoubles(AsDoubles &&) = default;
  AsDoubles &operator=(AsDoubles &&) = default;
  ~AsDoubles() = default;
  const double *data() const { return at_; }

 private:
  std::vector<double> copy_;
  const double *at_ = nullptr;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_TENSOR_DATA_H_
