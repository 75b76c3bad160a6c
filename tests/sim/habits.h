// What those who ask for locks in one world have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "world.h"

namespace lockc::sim {

// Some programs give one owner number to several of their threads.
inline constexpr uint64_t kSharedNumber = 1;

struct Habits {
  size_t keys = 1;
  Duration pause_between = 100ms;  // at most, between two operations of one user
  Duration answer_within = 8s;     // what does not wait for a lock is answered by then
  bool calm = false;               // ask for nothing new, and hold nothing long
};

}  // namespace lockc::sim
