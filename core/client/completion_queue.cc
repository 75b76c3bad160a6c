#include "client/completion_queue.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace lockc {
namespace {

int open_event() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

}  // namespace

CompletionQueue::CompletionQueue() : event_(open_event()) {}

CompletionQueue::~CompletionQueue() { ::close(event_); }

// event_ is readable exactly while completions wait, if anyone looks at it. Called under mutex_.
void CompletionQueue::settle_signal() {
  const bool wanted = (watched_ || waiting_) && !is_empty();
  if (wanted == signalled_) return;
  signalled_ = wanted;
  uint64_t count = 1;
  if (wanted) {
    [[maybe_unused]] const auto written = ::write(event_, &count, sizeof count);
  } else {
    [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
  }
}

void CompletionQueue::expect() {
  const std::lock_guard lock(mutex_);
  const size_t wanted = unsaid_.size() + expected_ + 1;
  if (wanted > unsaid_.capacity()) unsaid_.reserve(2 * wanted);
  ++expected_;
}

void CompletionQueue::dismiss() {
  const std::lock_guard lock(mutex_);
  --expected_;
}

void CompletionQueue::complete(Completion completion) {
  const std::lock_guard lock(mutex_);
  --expected_;
  if (completion.kind == Completion::Kind::kAcquire) acquires_.erase(completion.tag);
  if (closed_) return;  // all acquires were cancelled before, so no grant is among what comes
  try {
    ready_.push_back(std::move(completion));
  } catch (const std::bad_alloc&) {
    unsaid_.push_back({completion.tag, completion.kind});  // a failed push_back has moved nothing
    settle_signal();
    if (completion.grant != nullptr) throw;  // nobody will know of it
    return;
  }
  settle_signal();
}

std::optional<Completion> CompletionQueue::take(Millis wait) {
  std::unique_lock lock(mutex_);
  if (is_empty() && wait != Millis::zero() && !closed_) {
    waiting_ = true;
    lock.unlock();
    pollfd entry{event_, POLLIN, 0};
    const auto limit = std::min<int64_t>(wait.count(), INT32_MAX);
    ::poll(&entry, 1, wait < Millis::zero() ? -1 : static_cast<int>(limit));
    lock.lock();
    waiting_ = false;
  }
  std::optional<Completion> taken;
  if (!ready_.empty()) {
    taken = std::move(ready_.front());
    ready_.pop_front();
  } else if (!unsaid_.empty()) {
    const auto [tag, kind] = unsaid_.back();
    const bool news = kind == Completion::Kind::kLost;
    taken = Completion{tag, kind, {news ? Status::kLost : Status::kNoMemory, {}}, nullptr};
    unsaid_.pop_back();
  }
  settle_signal();
  return taken;
}

int CompletionQueue::fd() {
  const std::lock_guard lock(mutex_);
  watched_ = true;
  settle_signal();
  return event_;
}

bool CompletionQueue::remember(uint64_t tag, std::weak_ptr<Waiter> waiter) {
  const std::lock_guard lock(mutex_);
  return acquires_.try_emplace(tag, std::move(waiter)).second;
}

std::shared_ptr<Waiter> CompletionQueue::find(uint64_t tag) {
  const std::lock_guard lock(mutex_);
  const auto found = acquires_.find(tag);
  return found == acquires_.end() ? nullptr : found->second.lock();
}

std::deque<std::shared_ptr<Waiter>> CompletionQueue::outstanding() {
  const std::lock_guard lock(mutex_);
  std::deque<std::shared_ptr<Waiter>> all;
  for (const auto& [tag, waiter] : acquires_) {
    if (auto alive = waiter.lock()) all.push_back(std::move(alive));
  }
  return all;
}

std::deque<Completion> CompletionQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::deque<Completion> left = std::exchange(ready_, {});
  unsaid_.clear();
  settle_signal();
  return left;
}

}  // namespace lockc
