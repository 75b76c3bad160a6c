#include "process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

namespace lockc::cli {
namespace {

struct Process {
  pid_t pid;
  pid_t parent;
};

// 0 where the process is gone. Its name, in parentheses, may hold anything: read behind the last
// one.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  constexpr size_t kToParent = 4;  // ") S "
  if (name_end == std::string::npos || name_end + kToParent > line.size()) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + kToParent, nullptr, 10));
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return all;
  while (const dirent* entry = ::readdir(proc.get())) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid > 0) all.push_back({pid, parent_of(pid)});
  }
  return all;
}

// False when no child is left, dead or alive.
bool reap_the_dead() {
  pid_t pid = 0;
  do {
    pid = ::waitpid(-1, nullptr, WNOHANG);
  } while (pid > 0);
  return pid == 0;
}

void wait_for_child(long max_millis) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const timespec timeout{0, max_millis * 1'000'000};
  ::sigtimedwait(&child, nullptr, &timeout);
}

}  // namespace

std::vector<pid_t> descendants() {
  const std::vector<Process> all = all_processes();
  std::vector<pid_t> found{::getpid()};
  for (size_t i = 0; i < found.size(); ++i) {
    const pid_t parent = found[i];
    for (const Process& process : all) {
      if (process.parent == parent) found.push_back(process.pid);
    }
  }
  found.erase(found.begin());
  return found;
}

void terminate_descendants() {
  for (const pid_t pid : descendants()) {
    ::kill(pid, SIGTERM);
    ::kill(pid, SIGCONT);
  }
}

void kill_descendants() {
  // Again and again, as they may fork while the list is read; slower and slower, as a process
  // inside a system call that cannot be interrupted may take its time to die.
  for (long pause = 5; reap_the_dead(); pause = std::min(pause * 2, 640L)) {
    for (const pid_t pid : descendants()) ::kill(pid, SIGKILL);
    wait_for_child(pause);
  }
}

}  // namespace lockc::cli
