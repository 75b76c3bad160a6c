#include "run.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

#include "clock.h"
#include "exit_codes.h"
#include "guard.h"
#include "run_options.h"
#include "server.h"
#include "signals.h"
#include "text.h"

namespace lockc::cli {
namespace {

constexpr uint64_t kGrantTag = 1;
constexpr uint64_t kLossTag = 2;
// How much later than the guard lockc itself acts, should the guard be unable to.
constexpr BootTime kGuardDelay = std::chrono::seconds(1);

const char* reason_of_loss(const lockc_lock* lock) {
  switch (lockc_lock_lost_reason(lock)) {
    case LOCKC_LOST_EXPIRED:
      return "its lease ended before a renewal was answered";
    case LOCKC_LOST_TAKEN:
      return "the key was deleted or belongs to another owner";
    default:
      return "it is not held any more";
  }
}

// One lock and one command, from the request to the release.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        guard_({options.command, options.key, options.url, signals_.mask_before(), ::getpgrp()},
               options.ttl) {}

  // Returns the exit code.
  int run() {
    lockc_status status = connect();
    if (status == LOCKC_OK) status = ask();
    if (status != LOCKC_PENDING) return exit_code(status);
    const lockc_completion answer = wait_for_answer();
    lock_.reset(answer.lock);
    failure_.reset(answer.error);
    if (cancelled_by_ != 0) return kSignalled + cancelled_by_;
    if (answer.status != LOCKC_OK) return refused(answer.status);
    return give_back(hold());
  }

 private:
  lockc_status connect();
  lockc_status ask();
  lockc_completion wait_for_answer();
  int refused(lockc_status status);
  Ending hold();
  void wait(int more_fd, BootTime timeout);
  void take_losses();
  void keep_to_max_hold();
  void tell_the_guard();
  BootTime next_look() const;
  int give_back(const Ending& ending);
  int exit_code_of(const Ending& ending);
  void lost(const char* reason);

  const RunOptions& options_;
  Signals signals_;  // before the guard and the client, which inherit what is blocked
  Guard guard_;      // before the client, whose threads a fork would lose
  Client client_;
  Queue queue_;
  Lock lock_;
  Failure failure_;
  BootTime proven_until_{};
  BootTime hold_until_ = BootTime::max();
  int cancelled_by_ = 0;
  bool lost_ = false;
};

lockc_status Run::connect() {
  lockc_status status = open_client(client_, options_.url);
  if (status != LOCKC_OK) return status;
  lockc_queue* queue = nullptr;
  lockc_error* error = nullptr;
  status = lockc_queue_open(&queue, client_.get(), &error);
  queue_.reset(queue);
  failure_.reset(error);
  if (status != LOCKC_OK) complain(describe(status, failure_));
  return status;
}

lockc_status Run::ask() {
  lockc_acquire_options acquire = acquire_options(options_);
  acquire.events = queue_.get();
  acquire.events_tag = kLossTag;
  lockc_error* error = nullptr;
  const lockc_status status = lockc_queue_acquire(
      queue_.get(), kGrantTag, nullptr, options_.key.data(), options_.key.size(), &acquire, &error);
  failure_.reset(error);
  if (status != LOCKC_PENDING) complain(describe(status, failure_));
  return status;
}

void Run::wait(int more_fd, BootTime timeout) {
  pollfd sources[] = {
      {signals_.fd(), POLLIN, 0}, {lockc_queue_fd(queue_.get()), POLLIN, 0}, {more_fd, POLLIN, 0}};
  ::poll(sources, 3,
         static_cast<int>(std::min(timeout, BootTime(std::chrono::minutes(1))).count()));
}

// A signal ends the wait; the answer comes all the same.
lockc_completion Run::wait_for_answer() {
  lockc_completion answer{};
  for (;;) {
    const int32_t got = lockc_queue_poll(queue_.get(), &answer, 1, 0);
    if (got < 0) throw std::runtime_error(lockc_status_name(got));
    if (got > 0) return answer;
    wait(-1, std::chrono::minutes(1));
    while (const auto signal = signals_.next()) {
      cancelled_by_ = signal->number;
      lockc_queue_cancel(queue_.get(), kGrantTag);
    }
  }
}

int Run::refused(lockc_status status) {
  if (status == LOCKC_BUSY || status == LOCKC_TIMEOUT) {
    complain("\"" + printable(options_.key) + "\" is held by another owner");
  } else {
    complain(describe(status, failure_));  // names the key itself
  }
  return exit_code(status);
}

Ending Run::hold() {
  proven_until_ = boot_now() + BootTime(lockc_lock_remaining_ms(lock_.get()));
  if (options_.max_hold) hold_until_ = boot_now() + *options_.max_hold;
  guard_.start(lockc_lock_token(lock_.get()), proven_until_);
  for (;;) {
    wait(guard_.fd(), next_look());
    if (const auto ending = guard_.ending()) return *ending;
    while (const auto signal = signals_.next()) {
      if (!signal->from_terminal) guard_.pass_on(signal->number);
    }
    take_losses();
    keep_to_max_hold();
    tell_the_guard();
  }
}

void Run::take_losses() {
  lockc_completion event{};
  while (lockc_queue_poll(queue_.get(), &event, 1, 0) > 0) {
    if (event.kind == LOCKC_EVENT_LOST) lost(reason_of_loss(lock_.get()));
  }
}

// The library stops renewing then; the command is to stop while the lease still lasts.
void Run::keep_to_max_hold() {
  if (boot_now() >= hold_until_) lost("it was held for as long as --max-hold allows");
}

void Run::tell_the_guard() {
  const BootTime now = boot_now();
  const BootTime left(lockc_lock_remaining_ms(lock_.get()));
  if (left > BootTime::zero() && now + left > proven_until_) {
    guard_.proven(proven_until_ = now + left);
  }
  if (now > proven_until_ + kGuardDelay) guard_.kill();
}

// Renewals come each third of the ttl. A look when half of it is left finds the last one, and is in
// time to keep the guard from acting when a third is left; from there on it is looked closely.
BootTime Run::next_look() const {
  if (lost_) return kGuardDelay;
  const BootTime now = boot_now();
  const BootTime left = proven_until_ - now;
  const BootTime look = std::max({left - options_.ttl / 2, options_.ttl / 30, BootTime(1)});
  return std::clamp(hold_until_ - now, BootTime(1), look);
}

void Run::lost(const char* reason) {
  if (lost_) return;
  lost_ = true;
  complain("lost \"" + printable(options_.key) + "\": " + reason);
  guard_.lost();
}

int Run::give_back(const Ending& ending) {
  lockc_error* error = nullptr;
  const lockc_status status = lockc_lock_release(lock_.get(), &error);
  failure_.reset(error);
  const bool stopped = ending.kind == Ending::kStopped;
  if (status == LOCKC_LOST && !stopped) lost(reason_of_loss(lock_.get()));
  if (status < 0 && !lost_ && !stopped) {
    complain("the lock could not be given back, and is free when its ttl is over: " +
             describe(status, failure_));
  }
  return lost_ || stopped ? int{kLost} : exit_code_of(ending);
}

int Run::exit_code_of(const Ending& ending) {
  switch (ending.kind) {
    case Ending::kEnded:
      return WIFSIGNALED(ending.value) ? kSignalled + WTERMSIG(ending.value)
                                       : WEXITSTATUS(ending.value);
    case Ending::kNotStarted:
      complain("cannot run \"" + printable(options_.command[0]) +
               "\": " + std::system_category().message(ending.value));
      return ending.value == ENOENT ? kNotFound : kNotExecutable;
    case Ending::kGuardDied:
      complain("the guard process was killed, and the command with it");
      return kInternal;
    case Ending::kStopped:
      break;
  }
  return kLost;
}

}  // namespace

int run(Words words) {
  const std::optional<RunOptions> options = parse_run(words);
  if (!options) {
    std::fputs(kRunHelp, stdout);
    return kDone;
  }
  return Run(*options).run();
}

}  // namespace lockc::cli
