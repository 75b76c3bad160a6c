// Starts the command that lockc runs.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace lockc::cli {

struct Command {
  char** argv;           // ends with a null pointer
  std::string key;       // LOCKC_KEY
  std::string url;       // LOCKC_URL
  sigset_t signal_mask;  // what it inherits, as if lockc were not there
  pid_t process_group;   // lockc's, for a terminal to see one job
};

struct Spawned {
  pid_t pid;
  int error;  // 0, or the errno that kept the command from starting; there is no process then
};

// The command is killed when the calling thread ends, however it ends.
Spawned spawn(const Command& command, uint64_t token);

}  // namespace lockc::cli
