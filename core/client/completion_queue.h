// Answers on their way to one event loop of the user's, and a descriptor that is readable while
// there are any. Any thread.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lock/operation.h"

namespace lockc {

struct Waiter;

class CompletionQueue final : public Sink {
 public:
  CompletionQueue();
  ~CompletionQueue() override;
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  void expect() override;
  void complete(Completion completion) override;
  void dismiss() override;

  // The next completion; waits for it at most `wait` (kForever: no bound), less if a signal was
  // handled. One thread at a time.
  std::optional<Completion> take(Millis wait);
  // For the user's poll(); nobody may read it.
  int fd();

  // Which acquire a cancel by tag means, as long as it is not completed.
  // False: another one under this tag is not completed yet, and stays.
  bool remember(uint64_t tag, std::weak_ptr<Waiter> waiter);
  std::shared_ptr<Waiter> find(uint64_t tag);
  // Every acquire that is not completed.
  std::deque<std::shared_ptr<Waiter>> outstanding();
  // Nothing more is taken in; what comes is dropped, so grants go back. Returns what nobody took
  // out.
  std::deque<Completion> close();

 private:
  struct Unsaid {
    uint64_t tag;
    Completion::Kind kind;
  };
  bool is_empty() const { return ready_.empty() && unsaid_.empty(); }
  void settle_signal();

  std::mutex mutex_;
  const int event_;
  bool watched_ = false;    // the user has asked for event_
  bool waiting_ = false;    // take() sleeps on it
  bool signalled_ = false;  // event_ is readable
  bool closed_ = false;
  std::deque<Completion> ready_;
  size_t expected_ = 0;
  std::vector<Unsaid> unsaid_;  // for want of memory; has room for all that is expected
  std::unordered_map<uint64_t, std::weak_ptr<Waiter>> acquires_;
};

}  // namespace lockc
