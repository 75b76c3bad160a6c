// Who runs the loop: the client's background thread, or a caller that blocks anyway. A lone blocked
// caller writes its request and reads the answer by itself, which saves two thread hops a round
// trip (measured: 9 us each command); several that share a connection let one of them read for all.
// Nothing else in lockc knows about threads.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/function_ref.h"
#include "client/kick.h"
#include "client/slot.h"
#include "net/loop.h"
#include "net/reactor.h"
#include "redis/node.h"
#include "redis/wake_channel.h"

namespace lockc {

class Runner {
 public:
  Runner(const Clock& clock, Reactor& reactor, Loop& loop);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Begins the background thread; node and wake are what callers read from.
  void start(Node& node, WakeChannel& wake);
  // Ends and joins it. No other call may be under way.
  void stop();

  // Runs task inside the loop, in a turn of its own. Any thread but the background's.
  void inside(FunctionRef<void()> task);

  // Runs submit inside the loop, which hands the answer to slot sooner or later, and blocks until
  // then. Any thread but the background's.
  void call(Slot& slot, FunctionRef<void()> submit);

  // The same for one round trip at the most, and only if a connection is free. When the slot is not
  // told by then, otherwise() runs inside the loop, in the same turn. True: the slot was told by
  // the end.
  bool call_once(Slot& slot, FunctionRef<void()> submit, FunctionRef<void()> otherwise);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Lead {
    std::shared_ptr<Connection> connection;
    std::shared_ptr<Socket> socket;
    explicit operator bool() const { return socket != nullptr; }
  };

  void background();
  Lead begin(Lock& lock, Slot& slot, FunctionRef<void()> submit, bool only_free);
  void write_for_all(Lock& lock, Connection& connection, Connection::Unsent unsent);
  void read_for_all(Lock& lock, Slot& slot, const Lead& lead);
  void hand_on(const Lead& lead);
  void watch_channel(Lock& lock, Slot& slot);
  void end_turn();
  void wake_for_timers();

  const Clock& clock_;
  Reactor& reactor_;
  Loop& loop_;
  Node* node_ = nullptr;
  WakeChannel* wake_ = nullptr;
  const Kick kick_;
  std::mutex mutex_;  // "inside the loop" is to hold it
  std::thread thread_;
  bool stopping_ = false;
  TimePoint sleeps_until_{};  // of the background thread; the past while it is awake
  std::list<Slot*> blocked_;  // callers that sleep
};

}  // namespace lockc
