// A fence as Python sees it: which tokens a resource of this process lets pass.
#pragma once

#include <lockc/lockc.h>

#include <cstdint>
#include <memory>

#include "error.h"

namespace lockc::python {

// Any thread, with the GIL or without it, but for the errors.
class Fence {
 public:
  Fence() {
    lockc_fence* fence = nullptr;
    const lockc_status status = lockc_fence_new(&fence, nullptr);
    if (status != LOCKC_OK) raise(status, ErrorPtr(), nullptr);
    fence_.reset(fence);
  }

  void check(uint64_t token) {
    const lockc_status status = lockc_fence_check(fence_.get(), token);
    if (status != LOCKC_OK) raise(status, ErrorPtr(), nullptr);
  }
  uint64_t token() const { return lockc_fence_token(fence_.get()); }

 private:
  struct Free {
    void operator()(lockc_fence* fence) const { lockc_fence_free(fence); }
  };
  std::unique_ptr<lockc_fence, Free> fence_;
};

}  // namespace lockc::python
