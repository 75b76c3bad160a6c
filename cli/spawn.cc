#include "spawn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "handles.h"

namespace lockc::cli {
namespace {

// Returns only if the command could not be started.
int become(const Command& command, uint64_t token, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::setpgid(0, command.process_group);
  ::setenv("LOCKC_KEY", command.key.c_str(), 1);
  ::setenv("LOCKC_TOKEN", std::to_string(token).c_str(), 1);
  ::setenv("LOCKC_URL", command.url.c_str(), 1);
  ::sigprocmask(SIG_SETMASK, &command.signal_mask, nullptr);
  ::execvp(command.argv[0], command.argv);
  return errno;
}

}  // namespace

Spawned spawn(const Command& command, uint64_t token) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {-1, errno};
  Fd verdict(ends[0]);
  Fd teller(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return {-1, errno};
  if (pid == 0) {
    const int error = become(command, token, parent);
    [[maybe_unused]] const ssize_t told = ::write(teller.get(), &error, sizeof error);
    ::_exit(0);
  }
  // The pipe says nothing when the command starts: exec closes it.
  teller.close();
  int error = 0;
  while (::read(verdict.get(), &error, sizeof error) < 0 && errno == EINTR) {
  }
  if (error == 0) return {pid, 0};
  ::waitpid(pid, nullptr, 0);
  return {-1, error};
}

}  // namespace lockc::cli
