// Who asks for locks: random users of a process, and one client of the server that is none of
// lockc's.
#pragma once

#include <memory>
#include <string>

#include "judge.h"
#include "network.h"
#include "process.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

// What users of one world have in common.
struct Habits {
  size_t keys = 1;
  Duration pause_between = 100ms;  // at most, between two operations of one user
  Duration answer_within = 8s;     // what does not wait for a lock is answered by then
  Millis shortest_ttl{50};         // a lease below a round trip's time is over when it is told
  bool calm = false;               // ask for nothing new, and hold nothing long
};

// One thread of a process's program: acquires, holds, gives back, again and again.
class User : public std::enable_shared_from_this<User> {
 public:
  User(World& world, Judge& judge, Process& process, const Habits& habits)
      : world_(world), judge_(judge), process_(process), habits_(habits) {}

  void begin() { later(habits_.pause_between, &User::acquire); }

 private:
  using Step = void (User::*)();
  void later(Duration within, Step step);
  void later(Duration within, Task task);
  void acquire();
  void on_acquired(Completion completion);
  void cancel();
  void hold();
  void extend();
  void release();

  World& world_;
  Judge& judge_;
  Process& process_;
  const Habits& habits_;
  std::weak_ptr<Waiter> waiter_;  // the core owns it
  std::shared_ptr<Grant> grant_;
  bool fenced_ = true;
  Millis ttl_{};
};

// SET NX PX and compare-and-delete, as any library does it.
class PlainClient {
 public:
  PlainClient(World& world, Judge& judge, Server& server, const Habits& habits)
      : world_(world), judge_(judge), server_(server), habits_(habits) {}
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;
  void begin() { act(); }

 private:
  void act();
  void acquire();
  void release(const std::string& key, const std::string& owner);
  void send(const Arguments& request);

  World& world_;
  Judge& judge_;
  Server& server_;
  const Habits& habits_;
  uint64_t session_ = 0;  // 0: not connected
  uint64_t acquires_ = 0;
  std::function<void(const std::string&)> on_reply_;
};

}  // namespace lockc::sim
