// Owners of the handles of the C ABI, and of file descriptors.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

#include "lockc/lockc.h"

namespace lockc::cli {

template <auto End>
struct EndWith {
  template <class T>
  void operator()(T* handle) const {
    End(handle);
  }
};

using Client = std::unique_ptr<lockc_client, EndWith<lockc_client_close>>;
using Queue = std::unique_ptr<lockc_queue, EndWith<lockc_queue_close>>;
using Lock = std::unique_ptr<lockc_lock, EndWith<lockc_lock_free>>;
using Failure = std::unique_ptr<lockc_error, EndWith<lockc_error_free>>;
using Record = std::unique_ptr<lockc_record, EndWith<lockc_record_free>>;
using Text = std::unique_ptr<lockc_text, EndWith<lockc_text_free>>;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace lockc::cli
