// The world of one simulation: virtual time, the events to come, and the dice. One seed decides all
// that happens in it. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace lockc::sim {

using namespace std::chrono_literals;
using Task = std::function<void()>;

// A timer's grain, and the turn of the loop it fires in.
inline constexpr Duration kGrain = 2ms;
inline std::string in_ms(Duration span) { return std::to_string(span / 1ms) + " ms"; }

class World final : public Clock {
 public:
  // Events are told to trace() only where `tracing`: their texts cost more than the simulation.
  World(uint64_t seed, bool tracing) : random_(seed), tracing_(tracing) {}

  TimePoint now() const override { return now_; }
  Duration elapsed() const { return now_ - kBegin; }

  void at(TimePoint when, Task task);
  void in(Duration wait, Task task) { at(now_ + wait, std::move(task)); }
  // Runs all events up to `end`, then stands at `end`; stops early when a rule was broken.
  void run_until(TimePoint end);
  void run_for(Duration span) { run_until(now_ + span); }
  // What is looked at after every event.
  void set_inspector(Task inspector) { inspector_ = std::move(inspector); }

  uint64_t below(uint64_t bound) { return random_.next() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  Duration between(Duration low, Duration high);
  template <class T, size_t n>
  const T& pick(const T (&choices)[n]) {
    return choices[below(n)];
  }

  bool tracing() const { return tracing_; }
  template <class... Parts>
  void trace(const Parts&... parts) {
    if (!tracing_) return;
    std::string line;
    ((line += parts, line += ' '), ...);
    remember(std::move(line));
  }
  // The last events, oldest first.
  std::string recent() const;
  // Equal for equal runs.
  uint64_t digest() const { return digest_; }

  // A rule was broken; the first one counts.
  void fail(std::string what);
  bool has_failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }

 private:
  static constexpr TimePoint kBegin{std::chrono::hours(1)};
  static constexpr size_t kRemembered = 200;

  struct Event {
    TimePoint when;
    uint64_t number;  // events of one time happen in the order of their making
    Task task;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  void remember(std::string line);

  Random random_;
  const bool tracing_;
  TimePoint now_ = kBegin;
  uint64_t next_number_ = 0;
  std::priority_queue<Event> events_;
  Task inspector_;
  std::deque<std::string> lines_;
  uint64_t digest_ = 0xCBF29CE484222325U;
  std::string failure_;
};

}  // namespace lockc::sim
