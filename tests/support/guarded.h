// guarded.h -- floats in memory of their own, before and behind which no byte may be touched. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_GUARDED_H_
#define RNNPACK_TESTS_SUPPORT_GUARDED_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace rnnp_test {

// Pages with a page that may not be touched on either side; the floats end, or begin, at one of these.
class Guarded {
 public:
  enum class At { kEnd, kBegin };

  Guarded(const std::vector<float> &values, At at) : count_(values.size()) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = count_ * sizeof(float);
    const size_t usable = (bytes + page - 1) / page * page;
    bytes_ = usable + 2 * page;
    map_ = static_cast<char *>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED || mprotect(map_ + page, usable, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("no pages");
    char *first = map_ + page + (at == At::kEnd ? usable - bytes : 0);
    data_ = static_cast<float *>(static_cast<void *>(first));
    std::memcpy(data_, values.data(), bytes);
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { munmap(map_, bytes_); }

  float *data() const { return data_; }
  std::vector<float> values() const { return {data_, data_ + count_}; }

 private:
  char *map_;
  float *data_;
  size_t bytes_, count_;
};

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_GUARDED_H_
