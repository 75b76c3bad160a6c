// The guard: a second process, between lockc and the command. It stops the command, with all that
// the command started, before the lease can end: also while lockc itself is stopped, and when lockc
// is gone. It outlives what is done to the process group of lockc, for it has one of its own.
#pragma once

#include <sys/types.h>

#include <optional>

#include "args.h"
#include "guard_channel.h"
#include "handles.h"
#include "spawn.h"

namespace lockc::cli {

class Guard {
 public:
  // Forks: to be made while this process has one thread, and with all signals blocked that could
  // end the guard. Throws std::system_error.
  Guard(const Command& command, Millis ttl);

  // Readable once ending() has something to tell.
  int fd() const { return channel_.get(); }

  void start(uint64_t token, BootTime proven_until);
  void proven(BootTime until);
  void pass_on(int signal);
  void lost();

  // How the command ended; nothing while it runs. After a loss of the guard, ends the command
  // first.
  std::optional<Ending> ending();
  // For a guard that doesn't answer: kills it; ending() tells the rest.
  void kill();

 private:
  void send(const Order& order);

  Fd channel_;
  pid_t pid_ = -1;
};

}  // namespace lockc::cli
