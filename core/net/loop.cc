#include "net/loop.h"

#include "net/connection.h"

namespace lockc {

Loop::Loop(const Clock& clock, Transport& transport, Random random)
    : clock_(clock), transport_(transport), random_(random), now_(clock.now()), timers_(now_) {}

Loop::~Loop() = default;

void Loop::begin_turn() {
  now_ = clock_.now();
  timers_.run(now_);
}

void Loop::run_deferred() {
  while (!deferred_.empty()) {
    std::vector<std::function<void()>> tasks;
    tasks.swap(deferred_);
    for (const auto& task : tasks) task();
  }
}

void Loop::flush() {
  for (size_t i = 0; i < dirty_.size(); ++i) {
    if (const auto connection = dirty_[i].lock()) connection->flush();
  }
  dirty_.clear();
  buried_.clear();
}

void Loop::abandon() noexcept {
  deferred_.clear();
  dirty_.clear();
  buried_.clear();
}

}  // namespace lockc
