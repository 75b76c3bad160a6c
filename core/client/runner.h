// Who runs the loop: the client's background thread, or a caller that blocks anyway. A lone blocked
// caller writes its request and reads the answer by itself, which saves two thread hops a round
// trip (measured: 9 us each command); several that share a connection let one of them read for all.
// Nothing else in lockc knows about threads.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/function_ref.h"
#include "client/kick.h"
#include "client/lookout.h"
#include "client/sleepers.h"
#include "client/slot.h"
#include "net/loop.h"
#include "net/reactor.h"
#include "redis/node.h"
#include "redis/wake_channel.h"

namespace lockc {

class Runner {
 public:
  // node and wake are what callers read from. Whatever is thrown inside the loop, for want of
  // memory, leaves the rooms half way: then begin_anew(), and nothing else, is called there.
  Runner(const Clock& clock, Reactor& reactor, Loop& loop, Node& node, WakeChannel& wake,
         std::function<void()> begin_anew);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Begins the background thread.
  void start();
  // Ends and joins it. No other call may be under way.
  void stop();

  // Whom the slots of callers here belong to.
  Sleepers& sleepers() { return sleepers_; }

  // Runs task inside the loop, in a turn of its own. Any thread but the background's.
  void inside(FunctionRef<void()> task);

  // Runs task inside the loop, and writes the request that it makes outside, without blocking.
  // Nobody waits for the answer: it is read by the next caller on that connection, or by the
  // background thread.
  void send(FunctionRef<void()> task);

  // Runs submit inside the loop, which hands the answer to slot sooner or later, and blocks until
  // then. Any thread but the background's.
  void call(Slot& slot, FunctionRef<void()> submit);

  // The same for one round trip at the most, and only if a connection is free. When the slot is not
  // told by then, otherwise() runs inside the loop, in the same turn. True: the slot was told by
  // the end.
  bool call_once(Slot& slot, FunctionRef<void()> submit, FunctionRef<void()> otherwise);

 private:
  using Lock = std::unique_lock<std::mutex>;

  Lock enter();
  void leave(Lock lock);
  void background();
  void attempt(FunctionRef<void()> work) noexcept;
  void turn(FunctionRef<void()> task) noexcept;
  Lead begin(Slot& slot, FunctionRef<void()> submit, bool once);
  void write_for_all(Connection& connection, Connection::Unsent unsent);
  Lead read_for_all(Slot& slot, Lead lead, bool once);
  Lead watch_channel(Slot& slot, const Lead& lead);
  Lead block(Slot& slot);
  Connection::Unsent feed(const Lead& lead, const char* bytes, long got);
  void hand_on(const Lead& lead);
  Duration read_limit(const Slot& slot) const;
  void end_turn();
  void wake_for_timers();

  const Clock& clock_;
  Reactor& reactor_;
  Loop& loop_;
  Node& node_;
  WakeChannel& wake_;
  const std::function<void()> begin_anew_;
  const Kick kick_;
  std::atomic<unsigned> callers_{0};  // who is in call()
  std::mutex mutex_;                  // "inside the loop" is to hold it
  std::thread thread_;
  bool stopping_ = false;
  TimePoint sleeps_until_{};  // of the background thread; the past while it is awake
  Slot::Blocked blocked_;     // callers that sleep
  Lookout lookout_;
  Sleepers sleepers_;  // ... and of these, who has news since the turn began
};

}  // namespace lockc
