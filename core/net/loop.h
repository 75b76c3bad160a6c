// The inside of a client: clock, timers, transport and the work of one turn. Everything in net,
// redis and lock lives in one loop and is touched by one thread at a time, so none of it has a
// mutex.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "net/timers.h"
#include "net/transport.h"

namespace lockc {

class Connection;

class Loop {
 public:
  Loop(const Clock& clock, Transport& transport, Random random);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The time at which this turn began: never later than now, so leases counted from it are proven.
  TimePoint now() const { return now_; }
  Timers& timers() { return timers_; }
  Transport& transport() { return transport_; }
  Random& random() { return random_; }

  // Reads the clock and fires what is due: the first thing in a turn.
  void begin_turn();
  // The end of a turn: runs what was deferred, then lets every connection send in one write what it
  // collected.
  void run_deferred();
  void flush();
  void end_turn() {
    run_deferred();
    flush();
  }

  // Runs task at the end of this turn: for work that ought to be done once for all of the turn.
  void defer(std::function<void()> task) { deferred_.push_back(std::move(task)); }
  // Keeps object until the end of the turn: for one that is destroyed by an event of its own.
  void bury(std::shared_ptr<void> object) { buried_.push_back(std::move(object)); }
  // connection has something to send at the end of the turn.
  void mark_dirty(std::weak_ptr<Connection> connection) { dirty_.push_back(std::move(connection)); }

  // Forgets what was to be done in this turn.
  void abandon() noexcept;

 private:
  const Clock& clock_;
  Transport& transport_;
  Random random_;
  TimePoint now_;
  Timers timers_;
  std::vector<std::function<void()>> deferred_;
  std::vector<std::weak_ptr<Connection>> dirty_;
  std::vector<std::shared_ptr<void>> buried_;
};

}  // namespace lockc
