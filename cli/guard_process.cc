#include "guard_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process_tree.h"
#include "text.h"

namespace lockc::cli {
namespace {

// How long a command that was asked to stop may take, if its lease lasts that long.
constexpr BootTime kPatience = std::chrono::seconds(5);

// Killing takes its time, too, on a busy machine above all: it begins so long before the proof
// ends.
BootTime time_to_kill(Millis ttl) { return std::min(ttl / 20, Millis(100)); }

Fd open_child_news() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  return Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Counts suspended time: after it, the command is stopped before it gets far.
void set_alarm(const Fd& alarm, BootTime at) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at);
  const std::chrono::nanoseconds rest = at - seconds;
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = std::max<int64_t>(rest.count(), 1);  // all zero would disarm it
  ::timerfd_settime(alarm.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

GuardProcess::GuardProcess(Fd channel, const Command& command, Millis ttl)
    : channel_(std::move(channel)), command_(command), ttl_(ttl) {
  // What is meant for the group of lockc and the command is not to reach the guard, else it might
  // leave the command alone. Only SIGKILL ends a guard.
  ::setpgid(0, 0);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "lockc-guard");
}

void GuardProcess::run() {
  const std::optional<Order> order = wait_for_order();
  if (!order || !start(*order)) return;
  while (!ended_) watch();
}

std::optional<Order> GuardProcess::wait_for_order() {
  Order order{};
  ssize_t size = 0;
  do {
    size = ::recv(channel_.get(), &order, sizeof order, 0);
  } while (size < 0 && errno == EINTR);
  if (size != sizeof order) return std::nullopt;
  return order;
}

bool GuardProcess::start(const Order& order) {
  child_news_ = open_child_news();
  alarm_ = Fd(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
  if (child_news_.get() < 0 || alarm_.get() < 0) {
    end({Ending::kNotStarted, errno});
    return false;
  }
  proven_until_ = order.proven_until;
  const Spawned spawned = spawn(command_, order.token);
  if (spawned.error != 0) {
    end({Ending::kNotStarted, spawned.error});
    return false;
  }
  pid_ = spawned.pid;
  return true;
}

void GuardProcess::watch() {
  set_alarm(alarm_, next_step());
  pollfd sources[] = {
      {channel_.get(), POLLIN, 0}, {child_news_.get(), POLLIN, 0}, {alarm_.get(), POLLIN, 0}};
  ::poll(sources, 3, -1);
  if (sources[1].revents != 0) reap_the_ended();
  if (!ended_ && sources[0].revents != 0) obey_orders();
  if (!ended_) keep_the_deadline();
}

void GuardProcess::obey_orders() {
  const std::optional<Order> order = wait_for_order();
  if (!order) {
    complain("killed while it held the lock: killing the command");
    return end({Ending::kStopped});
  }
  switch (order->kind) {
    case Order::kProven:
      proven_until_ = std::max(proven_until_, order->proven_until);
      break;
    case Order::kSignal:
      if (!stop_asked_) ::kill(pid_, order->signal);  // later, pid_ may be another process
      break;
    case Order::kLost:
      if (!stop_asked_) stop();
      break;
    case Order::kStart:
    case Order::kThanks:
      break;
  }
}

void GuardProcess::reap_the_ended() {
  signalfd_siginfo news;
  while (::read(child_news_.get(), &news, sizeof news) == sizeof news) {
  }
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == pid_ && !stop_asked_) return end({Ending::kEnded, status});
    if (pid < 0 && stop_asked_) return end({Ending::kStopped});
    if (pid <= 0) return;
  }
}

BootTime GuardProcess::next_step() const {
  if (!stop_asked_) return proven_until_ - ttl_ / 3;
  return std::min(proven_until_ - time_to_kill(ttl_), *stop_asked_ + kPatience);
}

void GuardProcess::keep_the_deadline() {
  if (boot_now() < next_step()) return;
  if (!stop_asked_) {
    complain("the lease could not be renewed in time: stopping the command");
    return stop();
  }
  complain("the command did not stop in time: killing it");
  kill_descendants();
  end({Ending::kStopped});
}

void GuardProcess::stop() {
  stop_asked_ = boot_now();
  terminate_descendants();
}

void GuardProcess::end(Ending ending) {
  ended_ = true;
  ::send(channel_.get(), &ending, sizeof ending, MSG_NOSIGNAL);
  std::optional<Order> order;
  do {
    order = wait_for_order();
  } while (order && order->kind != Order::kThanks);
  // Without thanks, lockc is dead, and so must be what the command has started.
  if (!order) kill_descendants();
}

}  // namespace lockc::cli
