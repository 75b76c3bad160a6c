// The signals that end a wait and are passed on to the command, read from a descriptor instead of
// interrupting the program.
#pragma once

#include <signal.h>

#include <optional>

#include "handles.h"

namespace lockc::cli {

struct Signal {
  int number;
  bool from_terminal;  // Ctrl-C and the like: the terminal has sent it to the command, too
};

class Signals {
 public:
  // Blocks them, for every thread that is started later. What is ignored stays ignored (nohup).
  Signals();

  int fd() const { return fd_.get(); }
  // Nothing when none is left.
  std::optional<Signal> next();
  // The signal mask from before.
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_;
  Fd fd_;
};

}  // namespace lockc::cli
