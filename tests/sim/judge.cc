#include "judge.h"

#include <algorithm>
#include <utility>

namespace lockc::sim {

// ---- operations

struct Judge::Answer final : Sink {
  Answer(World& w, Process& p, std::string text, Duration within,
         std::function<void(Completion)> task)
      : world(w),
        process(p),
        what(std::move(text)),
        allowed(within),
        then(std::move(task)),
        began(w.now()),
        stood_still(p.stood_still()) {}

  void complete(Completion completion) override {
    world.trace(process.name(), what, "->", std::string(status_name(completion.outcome.status)),
                completion.outcome.message);
    if (++told > 1) return world.fail("told twice: " + process.name() + " " + what);
    check_time();
    std::exchange(then, nullptr)(std::move(completion));
  }
  bool is_open() const { return told == 0 && !process.is_dead(); }
  void check_time() {
    if (allowed < Duration::zero()) return;
    const Duration late = world.now() - began - allowed - (process.stood_still() - stood_still);
    if (late > kGrain) {
      world.fail("told " + in_ms(late) + " too late: " + process.name() + " " + what);
    }
  }

  World& world;
  Process& process;
  const std::string what;
  const Duration allowed;
  std::function<void(Completion)> then;
  const TimePoint began;
  const Duration stood_still;
  int told = 0;
};

std::shared_ptr<Sink> Judge::expect(Process& process, std::string what, Duration allowed,
                                    std::function<void(Completion)> then) {
  world_.trace(process.name(), what);
  std::erase_if(answers_, [](const auto& one) { return one->told > 0 || one->process.is_dead(); });
  answers_.push_back(
      std::make_shared<Answer>(world_, process, std::move(what), allowed, std::move(then)));
  return answers_.back();
}

size_t Judge::open_operations() const {
  return static_cast<size_t>(
      std::ranges::count_if(answers_, [](const auto& one) { return one->is_open(); }));
}

void Judge::check_answered(const Process* process) {
  for (const auto& one : answers_) {
    if (one->is_open() && (process == nullptr || process == &one->process)) {
      return world_.fail("never told: " + one->process.name() + " " + one->what);
    }
  }
}

// ---- the server's data

void Judge::inspect() {
  holders.inspect();
  check_expiries();
}

// A script that an error broke off may leave a queue without its expiry; the next one gives it.
void Judge::check_expiries() {
  if (server_.ever_broke_off()) return;
  for (const auto& [key, entry] : server_.data().entries()) {
    if (!entry.expires_ms && !Records::is_record(key)) world_.fail("no expiry on " + key);
  }
}

void Judge::check_leftovers() {
  holders.check_let_go();
  for (const auto& [key, entry] : server_.data().entries()) {
    const bool fence = key.starts_with("lockc:{") && key.find("}:fence:") != std::string::npos;
    if (!fence && !Records::is_record(key)) world_.fail("left over: " + key);
  }
  if (server_.has_listeners()) world_.fail("left over: a subscription");
}

}  // namespace lockc::sim
