#include "client/lookout.h"

#include <algorithm>
#include <chrono>

namespace lockc {
namespace {

// Measured with two callers: 4 bring half of it, and more than 20 bring no more.
constexpr int kLooks = 20;
// Who gives way to a program that computes comes back when that one's slice is over.
constexpr auto kTooLong = std::chrono::microseconds(500);
// Reads without a look before looking is tried again.
constexpr int kPause = 10'000;
constexpr int kCreditToTry = 8;

}  // namespace

int Lookout::looks(unsigned callers) {
  if (callers < 2 || callers > processors_) return 0;
  if (credit_ <= 0) {
    if (++skipped_ < kPause) return 0;
    skipped_ = 0;
    credit_ = kCreditToTry;
  }
  return kLooks;
}

void Lookout::learn(Seen::Looks looks) {
  switch (looks) {
    case Seen::Looks::kNone:
      break;
    case Seen::Looks::kPaid:
      credit_ = std::min(credit_ + 2, kMostCredit);
      break;
    case Seen::Looks::kInVain:
      credit_ -= 1;
      break;
    case Seen::Looks::kTooLong:
      credit_ -= 8;
      break;
  }
}

Lookout::Seen Lookout::read(const Socket& socket, char* buffer, size_t size, Duration wait,
                            int looks) {
  using Steady = std::chrono::steady_clock;
  Seen seen;
  const auto began = looks > 0 ? Steady::now() : Steady::time_point();
  for (int i = 0; i < looks; ++i) {
    if (i > 0) std::this_thread::yield();
    const bool too_long = Steady::now() - began > kTooLong;
    seen.got = socket.read(buffer, size, Duration::zero());
    if (seen.got != Socket::kNothing) {
      seen.looks = too_long ? Seen::Looks::kTooLong : Seen::Looks::kPaid;
      return seen;
    }
    seen.looks = too_long ? Seen::Looks::kTooLong : Seen::Looks::kInVain;
    if (too_long) break;
  }
  seen.got = socket.read(buffer, size, wait);
  return seen;
}

}  // namespace lockc
