// One client process: the core as Client puts it together, on virtual time and the simulated
// network. It can be paused like by SIGSTOP, and killed; and it can close its client and end.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "lock/record.h"
#include "lock/registry.h"
#include "lock/store.h"
#include "lock/watchdog.h"
#include "net/loop.h"
#include "redis/node.h"
#include "redis/wake_channel.h"
#include "world.h"

namespace lockc::sim {

class Process {
 public:
  // What its program sets up.
  struct Options {
    Connection::Settings times;
    uint32_t handover_max = 8;
    Millis handover_time{20};
    uint32_t max_waiters = 0;
    Watchdog::Settings renewal{};
  };
  Process(World& world, Transport& transport, const std::string& client, const Options& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Does task in a turn of the loop: now, or when the process goes on. Not at all once it is dead.
  void deliver(Task task);
  void pause(Duration span);
  // No word of it leaves any more.
  void kill();
  bool is_dead() const { return core_ == nullptr; }
  bool is_paused() const { return paused_until_ > world_.now(); }
  // When it last went on after a pause, or will.
  TimePoint went_on() const { return paused_until_; }
  // How long it stood still since its beginning; what waits counts that against it.
  Duration stood_still() const { return stood_still_; }

  Registry& registry() { return core_->registry; }
  RecordStore& records() { return core_->records; }
  TimePoint turn_began() { return core_->loop.now(); }
  void inspect_key(const Key& key, std::function<void(Result<std::string>)> then);
  // Closes the client: gives back what is held, waits for the answers, but no longer than `within`,
  // and ends; told before the end, and whether all answers came.
  void leave(Duration within, std::function<void(bool all_answered)> left);
  bool is_closing() const { return is_closing_; }
  const std::string& name() const { return name_; }

 private:
  struct Core {
    Core(World& world, Transport& transport, const std::string& client, const Options& options);
    Node::Config config;
    Log log{0};
    Loop loop;
    Node node;
    Store store;
    Watchdog watchdog;
    WakeChannel wake;
    Registry registry;
    RecordStore records;
  };

  void turn(const Task& task);
  void go_on();
  void arm();
  void end();
  void hang_up(bool all_answered, const std::function<void(bool)>& left);

  World& world_;
  const std::string name_;
  // Events keep a weak reference, so that none reaches a process that is gone.
  std::shared_ptr<Process*> self_ = std::make_shared<Process*>(this);
  std::unique_ptr<Core> core_;
  std::deque<Task> inbox_;  // what came while it was paused
  TimePoint paused_until_{};
  TimePoint armed_for_ = kNever;
  bool stalled_in_turn_ = false;  // the turn has begun already
  Duration stood_still_{};
  bool is_closing_ = false;
  bool has_hung_up_ = false;
};

}  // namespace lockc::sim
