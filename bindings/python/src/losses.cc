#include "losses.h"

#include <array>
#include <chrono>

namespace lockc::python {

uint64_t Losses::news() {
  const std::lock_guard lock(mutex_);
  return news_;
}

void Losses::wait(uint64_t seen, int timeout_ms) {
  std::unique_lock lock(mutex_);
  if (news_ != seen) return;
  if (polled_) {
    changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms));
    return;
  }
  polled_ = true;
  lock.unlock();
  const bool any = take_events(timeout_ms);
  lock.lock();
  polled_ = false;
  if (any) ++news_;
  changed_.notify_all();  // also without news: another thread has to poll now
}

void Losses::tell() {
  const std::lock_guard lock(mutex_);
  ++news_;
  changed_.notify_all();
}

void Losses::drain() {
  const std::lock_guard lock(mutex_);
  if (polled_) return;
  if (take_events(0)) {
    ++news_;
    changed_.notify_all();
  }
}

bool Losses::take_events(int timeout_ms) {
  std::array<lockc_completion, 16> events;
  const int32_t taken = lockc_queue_poll(queue_.get(), events.data(),
                                         static_cast<int32_t>(events.size()), timeout_ms);
  for (int32_t i = 0; i < taken; ++i) lockc_error_free(events[static_cast<size_t>(i)].error);
  return taken > 0;
}

}  // namespace lockc::python
