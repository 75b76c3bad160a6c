// Whether a caller looks for its answer a few times before it sleeps for it.
//
// To sleep and be woken takes longer than a server nearby takes to answer, most of all where a
// processor with nothing to do is put to sleep itself. So where some callers are about, but no more
// than processors, a reader gives way to them and to the server a few times, and sleeps only then
// (measured: two callers get about twice as much done, for less processor time each). A lone
// caller sleeps at once: it would burn what nobody else wants. Where looking does not pay, since
// the server is far or other programs want the processors, it is given up, and tried again seldom.
#pragma once

#include <cstddef>
#include <thread>

#include "net/transport.h"

namespace lockc {

class Lookout {
 public:
  // What a read came to: bytes as Socket::read tells them, and whether the looks before it paid.
  struct Seen {
    enum class Looks { kNone, kPaid, kInVain, kTooLong };
    long got = Socket::kNothing;
    Looks looks = Looks::kNone;
  };

  explicit Lookout(unsigned processors = std::thread::hardware_concurrency())
      : processors_(processors) {}

  // Inside the loop: how many looks the next read is worth, with so many callers about.
  int looks(unsigned callers);
  // Inside the loop, behind each read().
  void learn(Seen::Looks looks);
  // Outside: looks so often, then blocks for at most `wait`.
  static Seen read(const Socket& socket, char* buffer, size_t size, Duration wait, int looks);

 private:
  static constexpr int kMostCredit = 64;

  const unsigned processors_;
  int credit_ = kMostCredit;
  int skipped_ = 0;  // reads since the credit was used up
};

}  // namespace lockc
