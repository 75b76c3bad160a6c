#include "world.h"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace lockc::sim {

void World::at(TimePoint when, Task task) {
  events_.push({std::max(when, now_), next_number_++, std::move(task)});
}

void World::run_until(TimePoint end) {
  while (!has_failed() && !events_.empty() && events_.top().when <= end) {
    now_ = events_.top().when;
    const Task task = events_.top().task;
    events_.pop();
    // FNV-1a over the times of all events.
    digest_ = (digest_ ^ static_cast<uint64_t>(now_.time_since_epoch().count())) * 0x100000001B3U;
    try {
      task();
      if (inspector_) inspector_();
    } catch (const std::exception& error) {
      fail(std::string("thrown: ") + error.what());
    }
  }
  if (!has_failed()) now_ = std::max(now_, end);
}

Duration World::between(Duration low, Duration high) {
  if (high <= low) return low;
  return low + Duration(static_cast<int64_t>(below(static_cast<uint64_t>((high - low).count()))));
}

void World::remember(std::string line) {
  char time[32];
  std::snprintf(time, sizeof time, "%12.6f  ", std::chrono::duration<double>(elapsed()).count());
  lines_.push_back(time + std::move(line));
  if (lines_.size() > kRemembered) lines_.pop_front();
}

std::string World::recent() const {
  std::string text;
  for (const std::string& line : lines_) text += line + '\n';
  return text;
}

void World::fail(std::string what) {
  if (has_failed()) return;
  trace("BROKEN:", what);
  failure_ = std::move(what);
}

}  // namespace lockc::sim
