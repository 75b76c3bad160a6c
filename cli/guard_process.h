// What runs in the guard process: when to stop the command, and how.
#pragma once

#include <sys/types.h>

#include <optional>

#include "args.h"
#include "clock.h"
#include "guard_channel.h"
#include "handles.h"
#include "spawn.h"

namespace lockc::cli {

class GuardProcess {
 public:
  // command must outlive the object. ttl: the lease's.
  GuardProcess(Fd channel, const Command& command, Millis ttl);

  // Returns when the command has ended and lockc was told, or when lockc needs no guard any more.
  void run();

 private:
  std::optional<Order> wait_for_order();
  bool start(const Order& order);
  void watch();
  void obey_orders();
  void reap_the_ended();
  void keep_the_deadline();
  void stop();
  void end(Ending ending);
  BootTime next_step() const;

  Fd channel_;
  const Command& command_;
  const Millis ttl_;
  Fd child_news_;
  Fd alarm_;
  pid_t pid_ = -1;
  BootTime proven_until_{};
  std::optional<BootTime> stop_asked_;  // since when the command is asked to stop
  bool ended_ = false;
};

}  // namespace lockc::cli
