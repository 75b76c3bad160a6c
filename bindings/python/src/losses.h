// Where the threads of one client wait to be told that a lease was lost.
#pragma once

#include <lockc/lockc.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace lockc::python {

struct QueueClose {
  void operator()(lockc_queue* queue) const { lockc_queue_close(queue); }
};
using QueuePtr = std::unique_ptr<lockc_queue, QueueClose>;

// All grants of a client share one queue of events. One of the waiting threads polls it at a time;
// the others learn from it that there is news, and each looks at its own grant then. No call here
// needs the GIL, and wait() must be made without it.
class Losses {
 public:
  explicit Losses(QueuePtr queue) : queue_(std::move(queue)) {}

  lockc_queue* queue() const { return queue_.get(); }

  // The number of the last news; to be read before looking at a grant.
  uint64_t news();

  // Returns when there is newer news than `seen`, or after at most `timeout_ms`.
  void wait(uint64_t seen, int timeout_ms);

  // Makes every waiting thread look again: a grant of this client has ended.
  void tell();

  // Takes out events that nobody waits for, so that they can't pile up.
  void drain();

 private:
  bool take_events(int timeout_ms);

  const QueuePtr queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t news_ = 0;
  bool polled_ = false;  // a thread is inside take_events
};

}  // namespace lockc::python
