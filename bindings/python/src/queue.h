// The completion queue of one event loop; one thread at a time uses it, with the GIL, and none of
// its calls blocks.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "client.h"
#include "grant.h"
#include "request.h"

namespace lockc::python {

class Queue {
 public:
  explicit Queue(Client& client) : queue_(client.open_queue()) {}

  int fileno() const { return lockc_queue_fd(queue_.get()); }

  // Each of these is answered by exactly one completion of its tag, or raises.
  void acquire(uint64_t tag, std::shared_ptr<Request> request, int64_t wait_ms);
  void extend(uint64_t tag, const Grant& grant, int64_t ttl_ms);
  void release(uint64_t tag, Grant& grant);

  void cancel(uint64_t tag) { lockc_queue_cancel(queue_.get(), tag); }

  // What has come, in order: tuples (tag, kind, status, grant or None, message or None).
  pybind11::list poll();

 private:
  pybind11::tuple to_tuple(const lockc_completion& done);

  QueuePtr queue_;
  std::unordered_map<uint64_t, std::shared_ptr<Request>> acquiring_;
};

}  // namespace lockc::python
