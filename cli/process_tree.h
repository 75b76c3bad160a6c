// All processes that descend from this one. This process must be a subreaper: then what the command
// started stays below it, also when processes in between end or leave their session.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lockc::cli {

// Descendants of this process, parents before children; empty where /proc cannot be read.
std::vector<pid_t> descendants();

// Asks all descendants to end by SIGTERM; wakes those that are stopped, so that they can.
void terminate_descendants();

// Kills all descendants and waits until none is left. SIGCHLD must be blocked.
void kill_descendants();

}  // namespace lockc::cli
